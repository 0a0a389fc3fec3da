import * as m from '#messages/data';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the data platform in order. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    get title() {
      return m.overview();
    },
    load: () => import('./Overview.svelte'),
  },
  {
    section: 'tables',
    get title() {
      return m.tables();
    },
    load: () => import('./tables/Tables.svelte'),
  },
  {
    section: 'sql',
    get title() {
      return m.sql();
    },
    load: () => import('./sql/Sql.svelte'),
  },
  {
    section: 'users',
    get title() {
      return m.users();
    },
    load: () => import('./users/Users.svelte'),
  },
  {
    section: 'history',
    get title() {
      return m.history();
    },
    load: () => import('./history/History.svelte'),
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
    load: () => import('./DataSettings.svelte'),
  },
];
