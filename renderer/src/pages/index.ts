import type { Component } from 'svelte';
import type { IconName } from '../icons/icons.ts';
import type { ServiceGroup } from './service-groups.ts';
import type { CreatePaletteSearch } from '../state/palette-search.ts';

/** A page of the app: its path, its position in the sidebar and its component. */
export interface PageEntry {
  /** Start of the path: `inbox` for `/inbox/messages/7`, `settings/log` for `/settings/log`; empty for Home. */
  readonly path: string;
  /** The same text is the page's only level 1 heading. */
  readonly title: string;
  /** Shorter title for narrow spaces. */
  readonly short?: string;
  readonly icon: IconName;
  /**
   * Position in the sidebar: `daily` at the top, service groups, `foot` at the end. `settings` pages are listed in
   * the navigation of the settings and `account` pages in the account menu; `hidden` pages are only reachable by
   * their path.
   */
  readonly group: 'daily' | ServiceGroup | 'foot' | 'settings' | 'account' | 'hidden';
  readonly adminOnly?: true;
  /**
   * The services of the page. The sidebar shows their status and leaves the page out while none exists or all are
   * off.
   */
  readonly services?: readonly string[];
  /** Further keywords for the command palette. */
  readonly keywords?: string;
  /** Loads the search provider of the page for the command palette: names of items, actions, text of messages. */
  readonly loadSearch?: () => Promise<{ readonly default: CreatePaletteSearch }>;
  /** Loads the component. It receives the rest of the path as `section` and `id`. */
  readonly load: () => Promise<{ readonly default: Component<any> }>;
}

/** All pages in the order of the sidebar. A new page needs one entry here. */
export const pages: readonly PageEntry[] = [
  { path: '', title: 'Home', icon: 'home', group: 'daily', load: () => import('./home/Home.svelte') },
  {
    path: 'inbox',
    title: 'Inbox',
    icon: 'inbox',
    group: 'daily',
    loadSearch: () => import('./inbox/palette-search.ts'),
    load: () => import('./inbox/Inbox.svelte'),
  },
  {
    path: 'downloads',
    title: 'Downloads',
    icon: 'download',
    group: 'media',
    services: ['downloads'],
    keywords: 'videos queue history subscriptions channels playlists feeds cookies yt-dlp',
    loadSearch: () => import('./downloads/palette-search.ts'),
    load: () => import('./downloads/DownloadsPage.svelte'),
  },
  {
    path: 'addons',
    title: 'Streaming',
    icon: 'addons',
    group: 'media',
    adminOnly: true,
    services: ['addons'],
    keywords: 'addons stremio aiostreams streams debrid torrentio comet films series install configuration formatter',
    load: () => import('./addons/Addons.svelte'),
  },
  {
    path: 'push',
    title: 'Messages',
    icon: 'push',
    group: 'alerts',
    services: ['push'],
    keywords: 'push topics messages subscribe publish ntfy',
    loadSearch: () => import('./push/palette-search.ts'),
    load: () => import('./push/Push.svelte'),
  },
  {
    path: 'delivery',
    title: 'Delivery',
    icon: 'notify',
    group: 'alerts',
    adminOnly: true,
    services: ['notify', 'mail'],
    keywords:
      'notifications notify keys destinations tags test apprise aggregator mail smtp recipients spool gateway e-mail',
    loadSearch: () => import('./notify/palette-search.ts'),
    load: () => import('./delivery/Delivery.svelte'),
  },
  {
    path: 'uptime',
    title: 'Uptime',
    icon: 'uptime',
    group: 'alerts',
    services: ['uptime'],
    keywords: 'monitors watch outages incidents down ping certificate kuma container status',
    loadSearch: () => import('./uptime/palette-search.ts'),
    load: () => import('./uptime/Uptime.svelte'),
  },
  {
    path: 'sync',
    title: 'Sync',
    icon: 'sync',
    group: 'data',
    services: ['sync'],
    keywords: 'files folders copy backup rclone remotes cloud schedule drive s3 sftp webdav',
    loadSearch: () => import('./sync/palette-search.ts'),
    load: () => import('./sync/Sync.svelte'),
  },
  {
    path: 'git',
    title: 'Code',
    icon: 'git',
    group: 'data',
    services: ['git'],
    keywords: 'git repositories commits branches clone push gitea ssh keys issues pull requests releases',
    loadSearch: () => import('./git/palette-search.ts'),
    load: () => import('./git/Git.svelte'),
  },
  {
    path: 'data',
    title: 'Databases',
    icon: 'data',
    group: 'data',
    adminOnly: true,
    services: ['data'],
    keywords: 'tables rows sql postgres supabase postgrest policies users keys database',
    loadSearch: () => import('./data/palette-search.ts'),
    load: () => import('./data/Data.svelte'),
  },
  {
    path: 'network',
    title: 'Network',
    icon: 'share',
    group: 'foot',
    adminOnly: true,
    services: ['gateway'],
    keywords: 'sharing share lan gateway phone tv certificate trust https tls exposure qr code addresses',
    load: () => import('./network/Network.svelte'),
  },
  {
    path: 'settings',
    title: 'Settings',
    icon: 'settings',
    group: 'foot',
    adminOnly: true,
    loadSearch: () => import('./settings/palette-search.ts'),
    load: () => import('./settings/Settings.svelte'),
  },
  {
    path: 'settings/notifications',
    title: 'Notifications and quiet hours',
    short: 'Notifications',
    icon: 'notify',
    group: 'settings',
    keywords: 'popups sound silence night repeat urgent topics rules phones browsers',
    load: () => import('./notifications/Notifications.svelte'),
  },
  {
    path: 'settings/accounts',
    title: 'Accounts',
    icon: 'people',
    group: 'settings',
    adminOnly: true,
    keywords: 'people service tokens grants passwords access',
    load: () => import('./accounts/Accounts.svelte'),
  },
  {
    path: 'settings/backup',
    title: 'Backup',
    icon: 'backup',
    group: 'settings',
    adminOnly: true,
    keywords: 'save restore export copy archive',
    load: () => import('./backup/Backup.svelte'),
  },
  {
    path: 'settings/engines',
    title: 'Engines',
    icon: 'engine',
    group: 'settings',
    adminOnly: true,
    keywords: 'yt-dlp ffmpeg ffprobe apprise python programs versions update install',
    load: () => import('./engines/Engines.svelte'),
  },
  {
    path: 'settings/machine',
    title: 'This machine',
    icon: 'machine',
    group: 'settings',
    adminOnly: true,
    keywords: 'memory disk processor cpu load space',
    load: () => import('./machine/MachineCharts.svelte'),
  },
  {
    path: 'settings/problems',
    title: 'Problems',
    icon: 'job',
    group: 'settings',
    adminOnly: true,
    keywords: 'dead letters jobs failed retry work that was given up',
    load: () => import('./dead-letters/DeadLetters.svelte'),
  },
  {
    path: 'settings/log',
    title: 'Log',
    icon: 'log',
    group: 'settings',
    adminOnly: true,
    load: () => import('./log/Log.svelte'),
  },
  {
    path: 'account',
    title: 'Your account',
    icon: 'key',
    group: 'account',
    keywords: 'password token sign-in own',
    load: () => import('./account/OwnAccount.svelte'),
  },
  {
    path: 'gallery',
    title: 'Parts',
    icon: 'swatches',
    group: 'hidden',
    load: () => import('./gallery/Gallery.svelte'),
  },
];
