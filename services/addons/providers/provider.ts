/** What all services are told apart by when something fails; each client maps its own codes to these. */
export type ProviderErrorCode =
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'PAYMENT_REQUIRED'
  | 'TOO_MANY_REQUESTS'
  | 'STORE_LIMIT_EXCEEDED'
  | 'STORE_MAGNET_INVALID'
  | 'UNAVAILABLE_FOR_LEGAL_REASONS'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'SERVICE_UNAVAILABLE'
  | 'BAD_GATEWAY'
  | 'UNKNOWN';

/** A service refused or failed. The message is a sentence and holds no key. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;
  /** The service's own word for it. */
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  /** A limit of the whole account, not only of the function that was called. */
  readonly isAboutAccount: boolean;

  constructor(
    code: ProviderErrorCode,
    sentence: string,
    {
      reason = '',
      retryAfterMs,
      isAboutAccount = false,
    }: { reason?: string; retryAfterMs?: number | undefined; isAboutAccount?: boolean } = {},
  ) {
    super(sentence);
    this.code = code;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.isAboutAccount = isAboutAccount;
  }
}

/** How far a torrent has come. */
export type TorrentState = 'ready' | 'queued' | 'downloading' | 'failed' | 'selecting';

export interface ProviderFile {
  /** As the service names it. */
  readonly id: string;
  /** With its folders. */
  readonly path: string;
  readonly size: number;
  /** Its place in the torrent, where the service keeps it. */
  readonly index: number | undefined;
  /** What {@link Provider.link} needs. */
  readonly link: string | undefined;
}

export interface ProviderTorrent {
  readonly id: string;
  readonly hash: string | undefined;
  readonly name: string;
  readonly size: number | undefined;
  readonly state: TorrentState;
  /** 0 to 1. */
  readonly progress: number;
  /** Undefined while the service has not told them. */
  readonly files: readonly ProviderFile[] | undefined;
  readonly addedAt: number | undefined;
}

export interface ProviderUser {
  readonly name: string;
  readonly plan: 'premium' | 'trial' | 'expired';
  /** ms since the epoch. */
  readonly until: number | undefined;
}

/** Files a service has at once, by the hash of their torrent. */
export type CachedTorrents = ReadonlyMap<string, readonly { readonly path: string; readonly size: number }[]>;

/** What a torrent is added by. */
export interface Magnet {
  readonly hash: string;
  readonly name: string;
  readonly trackers: readonly string[];
}

/** The address of a magnet. */
export function magnetUri({ hash, name, trackers }: Magnet): string {
  const trackerPart = trackers.map((tracker) => `&tr=${encodeURIComponent(tracker)}`).join('');
  return `magnet:?xt=urn:btih:${hash}${name === '' ? '' : `&dn=${encodeURIComponent(name)}`}${trackerPart}`;
}

/** A service with somebody's credentials. */
export interface Provider {
  user(): Promise<ProviderUser>;
  /** Which of these it has at once; absent where the service does not tell any more. One call for all. */
  check?(hashes: readonly string[]): Promise<CachedTorrents>;
  /** Torrents of the account. */
  library(): Promise<readonly ProviderTorrent[]>;
  /** One of them with its files. */
  torrent(id: string): Promise<ProviderTorrent>;
  add(magnet: Magnet): Promise<ProviderTorrent>;
  /** Chooses what of a torrent is fetched, where the service wants to be told. */
  select?(torrent: ProviderTorrent, files: readonly ProviderFile[]): Promise<void>;
  /** The address the file plays from. `userIp`: who will play it, where the service binds the address to it. */
  link(torrent: ProviderTorrent, file: ProviderFile, userIp: string | undefined): Promise<string>;
  remove(id: string): Promise<void>;
}
