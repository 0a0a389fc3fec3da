/** Proxies by the names of their environment variables. */
export interface Proxies {
  readonly http_proxy: string;
  readonly https_proxy: string;
  readonly all_proxy: string;
}

/** Where a command may lead. */
export type Way =
  /** Also to this machine and network, by redirects and manifests, too. */
  | { readonly internal: true; readonly proxies: null }
  /** Outward only: for what cannot be looked at address by address, these are the only way. */
  | { readonly internal: false; readonly proxies: Proxies };

/**
 * The proxies of the user's own, as the environment names them, and the one that leads outward where it names none. What
 * it excepts from them (NO_PROXY) is no exception here: it would be reached unseen.
 */
export function proxiesOf(outward: string, environment: Readonly<Record<string, string | undefined>>): Proxies {
  const named = (name: string): string | undefined => environment[name] || environment[name.toUpperCase()] || undefined;
  const all = named('all_proxy');
  return {
    http_proxy: named('http_proxy') ?? all ?? outward,
    https_proxy: named('https_proxy') ?? all ?? outward,
    all_proxy: all ?? outward,
  };
}

/**
 * ffmpeg speaks more than the protocols that a proxy is asked for, and so would what yt-dlp calls for RTMP: that goes to
 * ffmpeg, which is told what it may speak.
 */
export const outwardArguments: readonly string[] = [
  ...['--downloader', 'rtmp:ffmpeg'],
  ...['--downloader-args', 'ffmpeg_i:-protocol_whitelist http,https,httpproxy,tcp,tls,crypto,data'],
];
