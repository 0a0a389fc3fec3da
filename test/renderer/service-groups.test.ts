import * as frameMessages from '#messages/frame';
import { expect, it } from 'vitest';
import { groupServices } from '../../renderer/src/pages/service-groups.ts';
import type { ServiceState } from '../../services/contracts/control/api.ts';

const service = (id: string, group?: 'alerts' | 'data' | 'system'): ServiceState => ({
  id,
  title: id,
  summary: '',
  state: 'up',
  detail: '',
  reason: null,
  address: null,
  port: null,
  suggestedPort: null,
  grantable: [],
  listeners: [],
  ...(group && { group }),
});

it('lists each service in one group, system services last', () => {
  const all = [service('popups', 'system'), service('sync', 'data'), service('inbox'), service('push', 'alerts')];
  const titledRows = groupServices(all).map(({ title, rows }) => [title, ...rows.map(({ id }) => id)]);
  expect(titledRows).toEqual([
    ['Alerts', 'push'],
    ['Data', 'sync'],
    [frameMessages.homeportItself(), 'popups', 'inbox'],
  ]);
});
