// Stands in for the sites that two example servers fetch from, so that both work without a network. The process of such a server imports
// this file before its own code.

/** The bytes of each video. No browser can play them. */
const VIDEO = 'the bytes of a video';
/** An article of Wikipedia, with one link. */
const ARTICLE = '<a href="/wiki/Gateway">Gateway</a>';
const SITES = { 'test-videos.co.uk': VIDEO, 'en.wikipedia.org': ARTICLE };

globalThis.fetch = async (address) => {
  const { hostname } = new URL(address);
  if (!(hostname in SITES)) throw new Error(`${hostname}: no such site in this test`);
  return new Response(SITES[hostname]);
};
