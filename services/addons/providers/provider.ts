/** State of a torrent at a service. */
export type TorrentState = 'ready' | 'queued' | 'downloading' | 'failed' | 'selecting';

export interface ProviderFile {
  /** ID at the service. */
  readonly id: string;
  /** Path including folders. */
  readonly path: string;
  readonly size: number;
  /** Index in the torrent, if the service preserves it. */
  readonly index: number | undefined;
  /** Value for {@link Provider.link}. */
  readonly link: string | undefined;
}

export interface ProviderTorrent {
  readonly id: string;
  readonly hash: string | undefined;
  readonly name: string;
  readonly size: number | undefined;
  readonly state: TorrentState;
  /** Progress from 0 to 1. */
  readonly progress: number;
  /** Undefined while the service has not listed them. */
  readonly files: readonly ProviderFile[] | undefined;
  readonly addedAt: number | undefined;
}

export interface ProviderUser {
  readonly name: string;
  readonly plan: 'premium' | 'trial' | 'expired';
  /** End of the paid plan in milliseconds since the epoch. */
  readonly until: number | undefined;
}

/** Files of available torrents by hash. */
export type AvailableTorrents = ReadonlyMap<string, readonly { readonly path: string; readonly size: number }[]>;

/** Torrent to add. */
export interface Magnet {
  readonly hash: string;
  readonly name: string;
  readonly trackers: readonly string[];
}

/** Builds a magnet URI. */
export function buildMagnetUri({ hash, name, trackers }: Magnet): string {
  const trackerPart = trackers.map((tracker) => `&tr=${encodeURIComponent(tracker)}`).join('');
  return `magnet:?xt=urn:btih:${hash}${name === '' ? '' : `&dn=${encodeURIComponent(name)}`}${trackerPart}`;
}

/** Client of a service with the credentials of an account. */
export interface Provider {
  user(): Promise<ProviderUser>;
  /**
   * Returns the available torrents of the given hashes in one request. Absent for services that no longer report
   * availability.
   */
  checkAvailability?(hashes: readonly string[]): Promise<AvailableTorrents>;
  /** Lists the torrents of the account. */
  library(): Promise<readonly ProviderTorrent[]>;
  /** Returns a torrent with its files. */
  torrent(id: string): Promise<ProviderTorrent>;
  add(magnet: Magnet): Promise<ProviderTorrent>;
  /** Selects the files to download, for services that require a selection. */
  select?(torrent: ProviderTorrent, files: readonly ProviderFile[]): Promise<void>;
  /**
   * Returns the address that plays the file.
   *
   * @param userIp Address of the player, for services that bind links to it.
   */
  link(torrent: ProviderTorrent, file: ProviderFile, userIp: string | undefined): Promise<string>;
  remove(id: string): Promise<void>;
}
