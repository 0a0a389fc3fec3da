import type { Component } from 'svelte';
import type { IconName } from '../parts/text/icons.ts';

/** A page of the app: its address, its place in the rail and what draws it. */
export interface PageEntry {
  /** First part of the path: `inbox` for `/inbox?id=7`, `settings` for `/settings/push`; empty for Home. */
  readonly at: string;
  /** The page's only level 1 heading says the same. */
  readonly title: string;
  readonly icon: IconName;
  /**
   * Where the rail has it: `daily` on top, `services` below, then `house` (what keeps the app running), `foot` at its end.
   * `hidden` pages are reached by their address alone.
   */
  readonly group: 'daily' | 'services' | 'house' | 'foot' | 'hidden';
  /** Has a place in the phone's bar, which takes three; the others are under More. */
  readonly bar?: true;
  /** Administrators alone. */
  readonly adminOnly?: true;
  /** The service behind it: the rail shows its trouble, and leaves the page out where the service does not exist. */
  readonly service?: string;
  /** More words the command palette finds it by. */
  readonly words?: string;
  /** The component; it gets `section`, what follows `at` in the path. */
  readonly load: () => Promise<{ readonly default: Component<any> }>;
}

/** All pages in the order of the rail. A new page is one line here. */
export const pages: readonly PageEntry[] = [
  { at: '', title: 'Home', icon: 'home', group: 'daily', bar: true, load: () => import('./home/Home.svelte') },
  { at: 'inbox', title: 'Inbox', icon: 'inbox', group: 'daily', bar: true, load: () => import('./inbox/Inbox.svelte') },
  {
    at: 'downloads',
    title: 'Downloads',
    icon: 'download',
    group: 'daily',
    bar: true,
    service: 'downloads',
    words: 'videos queue history subscriptions channels playlists feeds cookies yt-dlp',
    load: () => import('./downloads/subscriptions/Views.svelte'),
  },
  {
    at: 'push',
    title: 'Push',
    icon: 'push',
    group: 'services',
    service: 'push',
    words: 'topics messages subscribe publish ntfy',
    load: () => import('./push/Push.svelte'),
  },
  {
    at: 'notify',
    title: 'Notifications',
    icon: 'notify',
    group: 'services',
    adminOnly: true,
    service: 'notify',
    words: 'notify keys destinations tags test history apprise aggregator',
    load: () => import('./notify/Notify.svelte'),
  },
  {
    at: 'mail',
    title: 'Mail',
    icon: 'mail',
    group: 'services',
    adminOnly: true,
    service: 'mail',
    words: 'smtp recipients spool gateway e-mail source',
    load: () => import('./mail/Mail.svelte'),
  },
  {
    at: 'accounts',
    title: 'Accounts',
    icon: 'people',
    group: 'house',
    adminOnly: true,
    words: 'people service tokens grants passwords access',
    load: () => import('./accounts/Accounts.svelte'),
  },
  {
    at: 'engines',
    title: 'Engines',
    icon: 'engine',
    group: 'house',
    adminOnly: true,
    words: 'yt-dlp ffmpeg ffprobe apprise python programs versions update install',
    load: () => import('./engines/Engines.svelte'),
  },
  {
    at: 'given-up',
    title: 'Given-up work',
    icon: 'job',
    group: 'house',
    adminOnly: true,
    words: 'dead letters jobs failed retry work that was given up',
    load: () => import('./dead-letters/DeadLetters.svelte'),
  },
  {
    at: 'backup',
    title: 'Backup',
    icon: 'backup',
    group: 'house',
    adminOnly: true,
    words: 'save restore export copy archive',
    load: () => import('./backup/Backup.svelte'),
  },
  { at: 'log', title: 'Log', icon: 'log', group: 'house', adminOnly: true, load: () => import('./log/Log.svelte') },
  {
    at: 'settings',
    title: 'Settings',
    icon: 'settings',
    group: 'foot',
    adminOnly: true,
    load: () => import('./settings/Settings.svelte'),
  },
  {
    at: 'account',
    title: 'Your account',
    icon: 'key',
    group: 'foot',
    words: 'password token sign-in own',
    load: () => import('./account/OwnAccount.svelte'),
  },
  { at: 'gallery', title: 'Parts', icon: 'swatches', group: 'hidden', load: () => import('./gallery/Gallery.svelte') },
];
