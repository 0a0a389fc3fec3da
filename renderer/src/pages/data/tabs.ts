import * as m from '#messages/data';
import * as schemaMessages from '#messages/data-schema';
import type { ServiceTab } from '../service/tabs.ts';

/** Tabs of the data platform in order. */
export const tabs: readonly ServiceTab[] = [
  {
    section: '',
    title: m.overview,
    load: () => import('./Overview.svelte'),
  },
  {
    section: 'tables',
    title: m.tables,
    load: () => import('./tables/Tables.svelte'),
  },
  {
    section: 'schema',
    title: m.schemaTab,
    viewTitle: schemaMessages.diagram,
    load: () => import('./diagram/Diagram.svelte'),
  },
  {
    section: 'functions',
    parent: 'schema',
    title: schemaMessages.functions,
    load: () => import('./schema/Functions.svelte'),
  },
  {
    section: 'triggers',
    parent: 'schema',
    title: schemaMessages.triggers,
    load: () => import('./schema/Triggers.svelte'),
  },
  {
    section: 'indexes',
    parent: 'schema',
    title: schemaMessages.indexes,
    load: () => import('./schema/Indexes.svelte'),
  },
  {
    section: 'extensions',
    parent: 'schema',
    title: schemaMessages.extensions,
    load: () => import('./schema/Extensions.svelte'),
  },
  {
    section: 'roles',
    parent: 'schema',
    title: schemaMessages.roles,
    load: () => import('./schema/Roles.svelte'),
  },
  {
    section: 'sql',
    title: m.sql,
    load: () => import('./sql/Sql.svelte'),
  },
  {
    section: 'users',
    title: m.users,
    load: () => import('./users/UserList.svelte'),
  },
  {
    section: 'history',
    title: m.history,
    load: () => import('./history/History.svelte'),
  },
  {
    section: 'connect',
    title: m.connect,
    load: () => import('./connect/Connect.svelte'),
  },
  {
    section: 'settings',
    title: m.settings,
    load: () => import('./DataSettings.svelte'),
  },
];
