import * as m from '#messages/push';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of Messages in order. A new tab needs one entry here. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    get title() {
      return m.overview();
    },
    load: () => import('./topics/Topics.svelte'),
  },
  {
    section: 'delayed',
    get title() {
      return m.delayed();
    },
    load: () => import('./scheduled/Delayed.svelte'),
  },
  {
    section: 'retention',
    get title() {
      return m.retention();
    },
    load: () => import('./retention/RetentionRules.svelte'),
  },
  {
    section: 'history',
    get title() {
      return m.history();
    },
    load: () => import('./statistics/Statistics.svelte'),
  },
  {
    section: 'connect',
    get title() {
      return m.connect();
    },
    load: () => import('./connect/Connect.svelte'),
  },
  {
    section: 'settings',
    get title() {
      return m.settings();
    },
    adminOnly: true,
    load: () => import('./PushSettings.svelte'),
  },
];
