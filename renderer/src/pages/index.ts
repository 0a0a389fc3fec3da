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
  readonly title: () => string;
  /** Shorter title for narrow spaces. */
  readonly short?: () => string;
  readonly icon: IconName;
  /**
   * Position in the sidebar: `daily` at the top, service groups, `foot` at the end. `settings` pages are listed in
   * the navigation of the settings and `account` pages in the account menu; `hidden` pages are only reachable by
   * their path.
   */
  readonly group: 'daily' | ServiceGroup | 'foot' | 'settings' | 'account' | 'hidden';
  readonly adminOnly?: true;
  /** The page begins with a row of tabs, whose place is kept free while it loads. */
  readonly hasTabs?: true;
  /**
   * The services of the page. The sidebar shows their status and leaves the page out while none exists or all are
   * off.
   */
  readonly services?: readonly string[];
  /** Further keywords for the command palette. */
  readonly keywords?: () => string;
  /** Loads the search provider of the page for the command palette: names of items, actions, text of messages. */
  readonly loadSearch?: () => Promise<{ readonly default: CreatePaletteSearch }>;
  /** Loads the component. It receives the rest of the path as `section` and `id`. */
  readonly load: () => Promise<{ readonly default: Component<any> }>;
}

/** All pages in the order of the sidebar. A new page needs one entry here. */
export const pages: readonly PageEntry[] = [
  {
    path: '',
    title: m.homeTitle,
    icon: 'home',
    group: 'daily',
    load: () => import('./home/Home.svelte'),
  },
  {
    path: 'inbox',
    title: m.inboxTitle,
    icon: 'inbox',
    group: 'daily',
    loadSearch: () => import('./inbox/palette-search.ts'),
    load: () => import('./inbox/Inbox.svelte'),
  },
  {
    path: 'downloads',
    title: m.downloadsTitle,
    icon: 'download',
    group: 'media',
    services: ['downloads'],
    keywords: m.downloadsKeywords,
    loadSearch: () => import('./downloads/palette-search.ts'),
    load: () => import('./downloads/DownloadsPage.svelte'),
  },
  {
    path: 'addons',
    title: m.addonsTitle,
    icon: 'addons',
    group: 'media',
    adminOnly: true,
    services: ['addons'],
    keywords: m.addonsKeywords,
    hasTabs: true,
    load: () => import('./addons/Addons.svelte'),
  },
  {
    path: 'push',
    title: m.pushTitle,
    icon: 'push',
    group: 'alerts',
    services: ['push'],
    keywords: m.pushKeywords,
    loadSearch: () => import('./push/palette-search.ts'),
    hasTabs: true,
    load: () => import('./push/Push.svelte'),
  },
  {
    path: 'delivery',
    title: m.deliveryTitle,
    icon: 'notify',
    group: 'alerts',
    adminOnly: true,
    services: ['notify', 'mail'],
    keywords: m.deliveryKeywords,
    loadSearch: () => import('./notify/palette-search.ts'),
    hasTabs: true,
    load: () => import('./delivery/Delivery.svelte'),
  },
  {
    path: 'uptime',
    title: m.uptimeTitle,
    icon: 'uptime',
    group: 'alerts',
    services: ['uptime'],
    keywords: m.uptimeKeywords,
    loadSearch: () => import('./uptime/palette-search.ts'),
    hasTabs: true,
    load: () => import('./uptime/Uptime.svelte'),
  },
  {
    path: 'sync',
    title: m.syncTitle,
    icon: 'sync',
    group: 'data',
    services: ['sync'],
    keywords: m.syncKeywords,
    loadSearch: () => import('./sync/palette-search.ts'),
    hasTabs: true,
    load: () => import('./sync/Sync.svelte'),
  },
  {
    path: 'git',
    title: m.gitTitle,
    icon: 'git',
    group: 'data',
    services: ['git'],
    keywords: m.gitKeywords,
    loadSearch: () => import('./git/palette-search.ts'),
    hasTabs: true,
    load: () => import('./git/Git.svelte'),
  },
  {
    path: 'data',
    title: m.dataTitle,
    icon: 'data',
    group: 'data',
    adminOnly: true,
    services: ['data'],
    keywords: m.dataKeywords,
    loadSearch: () => import('./data/palette-search.ts'),
    hasTabs: true,
    load: () => import('./data/Data.svelte'),
  },
  {
    path: 'network',
    title: m.networkTitle,
    icon: 'share',
    group: 'foot',
    adminOnly: true,
    services: ['gateway'],
    keywords: m.networkKeywords,
    hasTabs: true,
    load: () => import('./network/Network.svelte'),
  },
  {
    path: 'settings',
    title: m.settingsTitle,
    icon: 'settings',
    group: 'foot',
    adminOnly: true,
    loadSearch: () => import('./settings/palette-search.ts'),
    load: () => import('./settings/Settings.svelte'),
  },
  {
    path: 'settings/notifications',
    title: m.notificationsTitle,
    short: m.notificationsShortTitle,
    icon: 'notify',
    group: 'settings',
    keywords: m.notificationsKeywords,
    load: () => import('./notifications/Notifications.svelte'),
  },
  {
    path: 'settings/accounts',
    title: m.accountsTitle,
    icon: 'people',
    group: 'settings',
    adminOnly: true,
    keywords: m.accountsKeywords,
    load: () => import('./accounts/Accounts.svelte'),
  },
  {
    path: 'settings/backup',
    title: m.backupTitle,
    icon: 'backup',
    group: 'settings',
    adminOnly: true,
    keywords: m.backupKeywords,
    load: () => import('./backup/Backup.svelte'),
  },
  {
    path: 'settings/engines',
    title: m.enginesTitle,
    icon: 'engine',
    group: 'settings',
    adminOnly: true,
    keywords: m.enginesKeywords,
    load: () => import('./engines/Engines.svelte'),
  },
  {
    path: 'settings/machine',
    title: m.machineTitle,
    icon: 'machine',
    group: 'settings',
    adminOnly: true,
    keywords: m.machineKeywords,
    load: () => import('./machine/MachineCharts.svelte'),
  },
  {
    path: 'settings/hosts',
    title: m.hostsTitle,
    icon: 'server',
    group: 'settings',
    adminOnly: true,
    keywords: m.hostsKeywords,
    load: () => import('./hosts/Hosts.svelte'),
  },
  {
    path: 'settings/problems',
    title: m.problemsTitle,
    icon: 'job',
    group: 'settings',
    adminOnly: true,
    keywords: m.problemsKeywords,
    load: () => import('./dead-letters/DeadLetters.svelte'),
  },
  {
    path: 'settings/log',
    title: m.logTitle,
    icon: 'log',
    group: 'settings',
    adminOnly: true,
    load: () => import('./log/Log.svelte'),
  },
  {
    path: 'connect',
    title: m.connectTitle,
    icon: 'connect',
    group: 'account',
    keywords: m.connectKeywords,
    hasTabs: true,
    load: () => import('./connect-device/ConnectDevice.svelte'),
  },
  {
    path: 'account',
    title: m.accountTitle,
    icon: 'key',
    group: 'account',
    keywords: m.accountKeywords,
    load: () => import('./account/OwnAccount.svelte'),
  },
  {
    path: 'share',
    title: m.shareTitle,
    icon: 'share',
    group: 'hidden',
    load: () => import('./share/Share.svelte'),
  },
  {
    path: 'gallery',
    title: m.galleryTitle,
    icon: 'swatches',
    group: 'hidden',
    load: () => import('./gallery/Gallery.svelte'),
  },
];
