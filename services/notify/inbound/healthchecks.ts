import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { joinTexts, toLines, type InboundAdapter } from './adapter.ts';

const types: Readonly<Record<string, NotificationType>> = {
  up: 'success',
  down: 'failure',
  grace: 'warning',
  started: 'info',
  paused: 'info',
  new: 'info',
};

/** Adapter for Healthchecks: `$JSON` (the check as in its API), or a body of `$NAME`, `$STATUS` and `$CODE`. */
export const healthchecks: InboundAdapter = {
  name: 'Healthchecks',
  matches: (payload) =>
    Object.hasOwn(types, payload.text('status').toLowerCase()) &&
    payload.text('name') !== '' &&
    ['n_pings', 'ping_url', 'unique_key', 'code'].some((name) => payload.has(name)),
  parse(payload) {
    const status = payload.text('status').toLowerCase();
    const last = payload.text('last_ping');
    const tags = payload.text('tags');
    return {
      title: `${payload.text('name')} is ${status}`,
      lines: [
        ...toLines(payload.lines('desc')),
        [
          joinTexts(
            ', ',
            last && `last ping ${last}`,
            payload.has('n_pings') ? `${payload.text('n_pings')} pings so far` : '',
          ),
        ],
        [tags && `Tags: ${tags}`],
      ].filter(([piece]) => piece !== ''),
      type: findOwn(types, status) ?? 'info',
      // The ping address is not linked, because opening it would be a ping.
      link: payload.link('details_url'),
    };
  },
};
