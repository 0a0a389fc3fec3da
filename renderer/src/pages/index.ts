import * as m from '#messages/frame';
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
  {
    path: '',
    get title() {
      return m.homeTitle();
    },
    icon: 'home',
    group: 'daily',
    load: () => import('./home/Home.svelte'),
  },
  {
    path: 'inbox',
    get title() {
      return m.inboxTitle();
    },
    icon: 'inbox',
    group: 'daily',
    loadSearch: () => import('./inbox/palette-search.ts'),
    load: () => import('./inbox/Inbox.svelte'),
  },
  {
    path: 'downloads',
    get title() {
      return m.downloadsTitle();
    },
    icon: 'download',
    group: 'media',
    services: ['downloads'],
    get keywords() {
      return m.downloadsKeywords();
    },
    loadSearch: () => import('./downloads/palette-search.ts'),
    load: () => import('./downloads/DownloadsPage.svelte'),
  },
  {
    path: 'addons',
    get title() {
      return m.addonsTitle();
    },
    icon: 'addons',
    group: 'media',
    adminOnly: true,
    services: ['addons'],
    get keywords() {
      return m.addonsKeywords();
    },
    load: () => import('./addons/Addons.svelte'),
  },
  {
    path: 'push',
    get title() {
      return m.pushTitle();
    },
    icon: 'push',
    group: 'alerts',
    services: ['push'],
    get keywords() {
      return m.pushKeywords();
    },
    loadSearch: () => import('./push/palette-search.ts'),
    load: () => import('./push/Push.svelte'),
  },
  {
    path: 'delivery',
    get title() {
      return m.deliveryTitle();
    },
    icon: 'notify',
    group: 'alerts',
    adminOnly: true,
    services: ['notify', 'mail'],
    get keywords() {
      return m.deliveryKeywords();
    },
    loadSearch: () => import('./notify/palette-search.ts'),
    load: () => import('./delivery/Delivery.svelte'),
  },
  {
    path: 'uptime',
    get title() {
      return m.uptimeTitle();
    },
    icon: 'uptime',
    group: 'alerts',
    services: ['uptime'],
    get keywords() {
      return m.uptimeKeywords();
    },
    loadSearch: () => import('./uptime/palette-search.ts'),
    load: () => import('./uptime/Uptime.svelte'),
  },
  {
    path: 'sync',
    get title() {
      return m.syncTitle();
    },
    icon: 'sync',
    group: 'data',
    services: ['sync'],
    get keywords() {
      return m.syncKeywords();
    },
    loadSearch: () => import('./sync/palette-search.ts'),
    load: () => import('./sync/Sync.svelte'),
  },
  {
    path: 'git',
    get title() {
      return m.gitTitle();
    },
    icon: 'git',
    group: 'data',
    services: ['git'],
    get keywords() {
      return m.gitKeywords();
    },
    loadSearch: () => import('./git/palette-search.ts'),
    load: () => import('./git/Git.svelte'),
  },
  {
    path: 'data',
    get title() {
      return m.dataTitle();
    },
    icon: 'data',
    group: 'data',
    adminOnly: true,
    services: ['data'],
    get keywords() {
      return m.dataKeywords();
    },
    loadSearch: () => import('./data/palette-search.ts'),
    load: () => import('./data/Data.svelte'),
  },
  {
    path: 'network',
    get title() {
      return m.networkTitle();
    },
    icon: 'share',
    group: 'foot',
    adminOnly: true,
    services: ['gateway'],
    get keywords() {
      return m.networkKeywords();
    },
    load: () => import('./network/Network.svelte'),
  },
  {
    path: 'settings',
    get title() {
      return m.settingsTitle();
    },
    icon: 'settings',
    group: 'foot',
    adminOnly: true,
    loadSearch: () => import('./settings/palette-search.ts'),
    load: () => import('./settings/Settings.svelte'),
  },
  {
    path: 'settings/notifications',
    get title() {
      return m.notificationsTitle();
    },
    get short() {
      return m.notificationsShortTitle();
    },
    icon: 'notify',
    group: 'settings',
    get keywords() {
      return m.notificationsKeywords();
    },
    load: () => import('./notifications/Notifications.svelte'),
  },
  {
    path: 'settings/accounts',
    get title() {
      return m.accountsTitle();
    },
    icon: 'people',
    group: 'settings',
    adminOnly: true,
    get keywords() {
      return m.accountsKeywords();
    },
    load: () => import('./accounts/Accounts.svelte'),
  },
  {
    path: 'settings/backup',
    get title() {
      return m.backupTitle();
    },
    icon: 'backup',
    group: 'settings',
    adminOnly: true,
    get keywords() {
      return m.backupKeywords();
    },
    load: () => import('./backup/Backup.svelte'),
  },
  {
    path: 'settings/engines',
    get title() {
      return m.enginesTitle();
    },
    icon: 'engine',
    group: 'settings',
    adminOnly: true,
    get keywords() {
      return m.enginesKeywords();
    },
    load: () => import('./engines/Engines.svelte'),
  },
  {
    path: 'settings/machine',
    get title() {
      return m.machineTitle();
    },
    icon: 'machine',
    group: 'settings',
    adminOnly: true,
    get keywords() {
      return m.machineKeywords();
    },
    load: () => import('./machine/MachineCharts.svelte'),
  },
  {
    path: 'settings/problems',
    get title() {
      return m.problemsTitle();
    },
    icon: 'job',
    group: 'settings',
    adminOnly: true,
    get keywords() {
      return m.problemsKeywords();
    },
    load: () => import('./dead-letters/DeadLetters.svelte'),
  },
  {
    path: 'settings/log',
    get title() {
      return m.logTitle();
    },
    icon: 'log',
    group: 'settings',
    adminOnly: true,
    load: () => import('./log/Log.svelte'),
  },
  {
    path: 'account',
    get title() {
      return m.accountTitle();
    },
    icon: 'key',
    group: 'account',
    get keywords() {
      return m.accountKeywords();
    },
    load: () => import('./account/OwnAccount.svelte'),
  },
  {
    path: 'gallery',
    get title() {
      return m.galleryTitle();
    },
    icon: 'swatches',
    group: 'hidden',
    load: () => import('./gallery/Gallery.svelte'),
  },
];
