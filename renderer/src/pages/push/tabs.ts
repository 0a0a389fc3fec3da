import * as m from '#messages/push';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of Messages in order. A new tab needs one entry here. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    title: m.overview,
    load: () => import('./topics/Topics.svelte'),
  },
  {
    section: 'delayed',
    title: m.delayed,
    load: () => import('./scheduled/Delayed.svelte'),
  },
  {
    section: 'retention',
    title: m.retention,
    load: () => import('./retention/RetentionRules.svelte'),
  },
  {
    section: 'history',
    title: m.history,
    load: () => import('./statistics/Statistics.svelte'),
  },
  {
    section: 'connect',
    title: m.connect,
    load: () => import('./connect/Connect.svelte'),
  },
  {
    section: 'settings',
    title: m.settings,
    adminOnly: true,
    load: () => import('./PushSettings.svelte'),
  },
];
