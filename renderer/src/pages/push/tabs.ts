import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of Messages in order. A new tab needs one entry here. */
export const tabs: readonly ServiceTab[] = [
  { at: '', title: 'Overview', load: () => import('./Topics.svelte') },
  { at: 'delayed', title: 'Delayed', load: () => import('./Delayed.svelte') },
  { at: 'retention', title: 'Retention', load: () => import('./RetentionRules.svelte') },
  { at: 'history', title: 'History', load: () => import('./Statistics.svelte') },
  { at: 'connect', title: 'Connect', load: () => import('./Connect.svelte') },
  { at: 'settings', title: 'Settings', adminOnly: true, load: () => import('./PushSettings.svelte') },
];
