// The cases of a network for sites on subdomains: network.mjs takes the network that has the name of the script.

import './network.mjs';
