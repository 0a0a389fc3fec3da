import * as m from '#messages/macos-hints';

/** IPv4 and IPv6 addresses of private and link-local networks, and names of the local network. */
const localTarget =
  /(?<![\w.])(?:10\.\d|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)|(?<![\w:])f(?:e[89ab]|[cd])[\da-f]{0,2}:|\w\.(?:local|lan|home|internal|home\.arpa|fritz\.box)\b/i;

/** Returns the place of the setting that lets a program read protected folders. */
export const getProtectedFolderHint = m.protectedFolder;

/**
 * Returns the place of the setting that lets a program reach the local network, from macOS 15 on, for a connection
 * without a route to a local address, which is how macOS refuses other programs. Empty on other systems and for other
 * addresses.
 * @param platform System of the computer that Homeport runs on.
 */
export function getLocalNetworkHint(address: string, platform: string): string {
  return platform === 'darwin' && localTarget.test(address) ? m.localNetwork() : '';
}
