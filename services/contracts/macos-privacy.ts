/** IPv4 and IPv6 addresses of private and link-local networks, and names of the local network. */
const localTarget =
  /(?<![\w.])(?:10\.\d|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)|(?<![\w:])f(?:e[89ab]|[cd])[\da-f]{0,2}:|\w\.(?:local|lan|home|internal|home\.arpa|fritz\.box)\b/i;

/** Place of the setting that lets a program reach devices of the local network, from macOS 15 on. */
const localNetworkHint =
  'macOS may keep Homeport from the local network: allow it in System Settings, Privacy & Security, Local Network.';

/** Place of the setting that lets a program read protected folders. */
export const protectedFolderHint =
  'macOS may protect this folder: allow Homeport in System Settings, Privacy & Security, Files and Folders (or Full Disk ' +
  'Access), and start it again.';

/**
 * Returns a hint for a connection without a route to a local address, which is how macOS refuses programs that may not
 * use the local network. Empty on other systems and for other addresses.
 * @param platform System of the computer that Homeport runs on.
 */
export function getLocalNetworkHint(address: string, platform: string): string {
  return platform === 'darwin' && localTarget.test(address) ? localNetworkHint : '';
}
