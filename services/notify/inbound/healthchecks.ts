import * as m from '#messages/notify-inbound';
import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { toLines, type InboundAdapter } from './adapter.ts';
import type { Payload } from './payload.ts';

const types: Readonly<Record<string, NotificationType>> = {
  up: 'success',
  down: 'failure',
  grace: 'warning',
  started: 'info',
  paused: 'info',
  new: 'info',
};

/** Formats the time of the last ping and the number of pings, as far as the payload has them. */
function formatPings(payload: Payload): string {
  const time = payload.text('last_ping');
  const count = Number(payload.text('n_pings'));
  if (!payload.has('n_pings') || !Number.isFinite(count)) return time === '' ? '' : m.lastPing({ time });
  return time === '' ? m.pings({ count }) : m.lastPingAndPings({ time, count });
}

/** Adapter for Healthchecks: `$JSON` (the check as in its API), or a body of `$NAME`, `$STATUS` and `$CODE`. */
export const healthchecks: InboundAdapter = {
  name: 'Healthchecks',
  matches: (payload) =>
    Object.hasOwn(types, payload.text('status').toLowerCase()) &&
    payload.text('name') !== '' &&
    ['n_pings', 'ping_url', 'unique_key', 'code'].some((name) => payload.has(name)),
  parse(payload) {
    const status = payload.text('status').toLowerCase();
    const tags = payload.text('tags');
    return {
      title: m.check({ name: payload.text('name'), status }),
      lines: [...toLines(payload.lines('desc')), [formatPings(payload)], [tags && m.tags({ tags })]].filter(
        ([piece]) => piece !== '',
      ),
      type: findOwn(types, status) ?? 'info',
      // The ping address is not linked, because opening it would be a ping.
      link: payload.link('details_url'),
    };
  },
};
