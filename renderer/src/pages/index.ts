import type { Component } from 'svelte';
import type { IconName } from '../parts/text/icons.ts';
import type { ServiceGroup } from './service-groups.ts';
import type { BeginFind } from '../state/palette-search.ts';

/** A page of the app: its address, its place in the sidebar and what draws it. */
export interface PageEntry {
  /** How the path begins: `inbox` for `/inbox/messages/7`, `settings/log` for `/settings/log`; empty for Home. */
  readonly at: string;
  /** The page's only level 1 heading says the same. */
  readonly title: string;
  /** Its title where there is room for a word. */
  readonly short?: string;
  readonly icon: IconName;
  /**
   * Where the sidebar has it: `daily` on top, the services in their groups, `foot` at its end.
   * `settings`: in the settings' own navigation; `account`: in the menu of who is signed in; `hidden`: by its address alone.
   */
  readonly group: 'daily' | ServiceGroup | 'foot' | 'settings' | 'account' | 'hidden';
  /** Administrators alone. */
  readonly adminOnly?: true;
  /** The services behind it: the sidebar shows their state, and leaves the page out where none exists or all are off. */
  readonly services?: readonly string[];
  /** More words the command palette finds it by. */
  readonly words?: string;
  /** What the command palette finds of it besides: things by their names, actions, messages by their words. */
  readonly find?: () => Promise<{ readonly default: BeginFind }>;
  /** The component; it gets `thing` and `id`, what follows `at` in the path. */
  readonly load: () => Promise<{ readonly default: Component<any> }>;
}

/** All pages in the order of the sidebar. A new page is one entry here. */
export const pages: readonly PageEntry[] = [
  { at: '', title: 'Home', icon: 'home', group: 'daily', load: () => import('./home/Home.svelte') },
  {
    at: 'inbox',
    title: 'Inbox',
    icon: 'inbox',
    group: 'daily',
    find: () => import('./inbox/find.ts'),
    load: () => import('./inbox/Inbox.svelte'),
  },
  {
    at: 'downloads',
    title: 'Downloads',
    icon: 'download',
    group: 'media',
    services: ['downloads'],
    words: 'videos queue history subscriptions channels playlists feeds cookies yt-dlp',
    find: () => import('./downloads/find.ts'),
    load: () => import('./downloads/subscriptions/Views.svelte'),
  },
  {
    at: 'addons',
    title: 'Streaming',
    icon: 'addons',
    group: 'media',
    adminOnly: true,
    services: ['addons'],
    words: 'addons stremio aiostreams streams debrid torrentio comet films series install configuration formatter',
    load: () => import('./addons/Addons.svelte'),
  },
  {
    at: 'push',
    title: 'Messages',
    icon: 'push',
    group: 'alerts',
    services: ['push'],
    words: 'push topics messages subscribe publish ntfy',
    find: () => import('./push/find.ts'),
    load: () => import('./push/Push.svelte'),
  },
  {
    at: 'delivery',
    title: 'Delivery',
    icon: 'notify',
    group: 'alerts',
    adminOnly: true,
    services: ['notify', 'mail'],
    words:
      'notifications notify keys destinations tags test apprise aggregator mail smtp recipients spool gateway e-mail',
    find: () => import('./notify/find.ts'),
    load: () => import('./delivery/Delivery.svelte'),
  },
  {
    at: 'uptime',
    title: 'Uptime',
    icon: 'uptime',
    group: 'alerts',
    services: ['uptime'],
    words: 'monitors watch outages incidents down ping certificate kuma container status',
    find: () => import('./uptime/find.ts'),
    load: () => import('./uptime/Uptime.svelte'),
  },
  {
    at: 'sync',
    title: 'Sync',
    icon: 'sync',
    group: 'data',
    services: ['sync'],
    words: 'files folders copy backup rclone remotes cloud schedule drive s3 sftp webdav',
    find: () => import('./sync/find.ts'),
    load: () => import('./sync/Sync.svelte'),
  },
  {
    at: 'git',
    title: 'Code',
    icon: 'git',
    group: 'data',
    services: ['git'],
    words: 'git repositories commits branches clone push gitea ssh keys issues pull requests releases',
    find: () => import('./git/find.ts'),
    load: () => import('./git/Git.svelte'),
  },
  {
    at: 'data',
    title: 'Databases',
    icon: 'data',
    group: 'data',
    adminOnly: true,
    services: ['data'],
    words: 'tables rows sql postgres supabase postgrest policies users keys database',
    find: () => import('./data/find.ts'),
    load: () => import('./data/Data.svelte'),
  },
  {
    at: 'network',
    title: 'Network',
    icon: 'share',
    group: 'foot',
    adminOnly: true,
    services: ['gateway'],
    words: 'sharing share lan gateway phone tv certificate trust https tls exposure qr code addresses',
    load: () => import('./network/Network.svelte'),
  },
  {
    at: 'settings',
    title: 'Settings',
    icon: 'settings',
    group: 'foot',
    adminOnly: true,
    find: () => import('./settings/find.ts'),
    load: () => import('./settings/Settings.svelte'),
  },
  {
    at: 'settings/notifications',
    title: 'Notifications and quiet hours',
    short: 'Notifications',
    icon: 'notify',
    group: 'settings',
    words: 'popups sound silence night repeat urgent topics rules phones browsers',
    load: () => import('./settings/Notifications.svelte'),
  },
  {
    at: 'settings/accounts',
    title: 'Accounts',
    icon: 'people',
    group: 'settings',
    adminOnly: true,
    words: 'people service tokens grants passwords access',
    load: () => import('./accounts/Accounts.svelte'),
  },
  {
    at: 'settings/backup',
    title: 'Backup',
    icon: 'backup',
    group: 'settings',
    adminOnly: true,
    words: 'save restore export copy archive',
    load: () => import('./backup/Backup.svelte'),
  },
  {
    at: 'settings/engines',
    title: 'Engines',
    icon: 'engine',
    group: 'settings',
    adminOnly: true,
    words: 'yt-dlp ffmpeg ffprobe apprise python programs versions update install',
    load: () => import('./engines/Engines.svelte'),
  },
  {
    at: 'settings/machine',
    title: 'This machine',
    icon: 'machine',
    group: 'settings',
    adminOnly: true,
    words: 'memory disk processor cpu load space',
    load: () => import('./machine/MachineCharts.svelte'),
  },
  {
    at: 'settings/problems',
    title: 'Problems',
    icon: 'job',
    group: 'settings',
    adminOnly: true,
    words: 'dead letters jobs failed retry work that was given up',
    load: () => import('./dead-letters/DeadLetters.svelte'),
  },
  {
    at: 'settings/log',
    title: 'Log',
    icon: 'log',
    group: 'settings',
    adminOnly: true,
    load: () => import('./log/Log.svelte'),
  },
  {
    at: 'account',
    title: 'Your account',
    icon: 'key',
    group: 'account',
    words: 'password token sign-in own',
    load: () => import('./account/OwnAccount.svelte'),
  },
  { at: 'gallery', title: 'Parts', icon: 'swatches', group: 'hidden', load: () => import('./gallery/Gallery.svelte') },
];
