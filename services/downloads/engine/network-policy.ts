/** Proxies by environment variable. */
export interface Proxies {
  readonly http_proxy: string;
  readonly https_proxy: string;
  readonly all_proxy: string;
}

/** Addresses that a command may reach. */
export type NetworkPolicy =
  /** Any address, including this computer and network, also by redirects and manifests. */
  | { readonly allowInternal: true; readonly proxies: null }
  /** Only public addresses, through proxies that check each address. */
  | { readonly allowInternal: false; readonly proxies: Proxies };

/**
 * Returns the proxies of the environment, with the egress proxy as the default. Exceptions (NO_PROXY) are ignored: they
 * would be reached without a check.
 */
export function getProxies(egressProxy: string, environment: Readonly<Record<string, string | undefined>>): Proxies {
  const findVariable = (name: string): string | undefined =>
    environment[name] || environment[name.toUpperCase()] || undefined;
  const allProxy = findVariable('all_proxy');
  return {
    http_proxy: findVariable('http_proxy') ?? allProxy ?? egressProxy,
    https_proxy: findVariable('https_proxy') ?? allProxy ?? egressProxy,
    all_proxy: allProxy ?? egressProxy,
  };
}

/**
 * Restricts the protocols of ffmpeg, which supports more than a proxy covers. RTMP is handled by ffmpeg instead of
 * another program.
 */
export const restrictedArguments: readonly string[] = [
  ...['--downloader', 'rtmp:ffmpeg'],
  ...['--downloader-args', 'ffmpeg_i:-protocol_whitelist http,https,httpproxy,tcp,tls,crypto,data'],
];
