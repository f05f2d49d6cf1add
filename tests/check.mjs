// Cases with a deadline, for the scripts that say how each of theirs went.

const SECONDS = 60;
let failed = 0;

/** Runs one case under a deadline and prints how it went. */
export async function check(name, run) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${SECONDS} s`)), SECONDS * 1000);
  });
  try {
    await Promise.race([run(), late]);
    console.log(`ok ${name}`);
    return true;
  } catch (error) {
    failed += 1;
    console.log(`not ok ${name}: ${String(error?.stack ?? error).split('\n').join(' | ')}`);
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** Prints how a case without a deadline of its own went: `why` it failed, if it did. */
export function report(name, why) {
  if (why === undefined) return console.log(`ok ${name}`);
  failed += 1;
  console.log(`not ok ${name}: ${why}`);
}

/** Ends the script: with 1 if any case failed. */
export function finish() {
  process.exit(failed > 0 ? 1 : 0);
}
