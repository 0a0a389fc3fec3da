import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of Messages in order. A new tab needs one entry here. */
export const tabs: readonly ServiceTab[] = [
  { section: '', title: 'Overview', load: () => import('./topics/Topics.svelte') },
  { section: 'delayed', title: 'Delayed', load: () => import('./scheduled/Delayed.svelte') },
  { section: 'retention', title: 'Retention', load: () => import('./retention/RetentionRules.svelte') },
  { section: 'history', title: 'History', load: () => import('./statistics/Statistics.svelte') },
  { section: 'connect', title: 'Connect', load: () => import('./connect/Connect.svelte') },
  { section: 'settings', title: 'Settings', adminOnly: true, load: () => import('./PushSettings.svelte') },
];
