import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { joined, linesOf, linkLine, type Program } from './adapter.ts';

const states: Readonly<Record<string, readonly [words: string, type: NotificationType]>> = {
  0: ['is down', 'failure'],
  1: ['is up', 'success'],
  2: ['is pending', 'warning'],
  3: ['is in maintenance', 'warning'],
};

/** Uptime Kuma's webhook in its JSON form. Heartbeat and monitor are null for tests and certificates. */
export const uptimeKuma: Program = {
  name: 'Uptime Kuma',
  claims: (payload) => payload.names('heartbeat') && payload.names('monitor') && payload.names('msg'),
  read(payload) {
    const message = payload.lines('msg');
    const name = payload.text('monitor.name') || payload.text('monitor.pathName');
    const [words, type] = findOwn(states, payload.text('heartbeat.status')) ?? ['', 'info' as const];
    const address = payload.link('monitor.url');
    // Kuma leaves `https://` there for monitors of other kinds.
    const site = address === undefined || /^https?:\/\/$/.test(address) ? undefined : address;
    const lines = [...linesOf(message || payload.lines('heartbeat.msg')), ...linkLine('Monitor', site)];
    if (lines.length === 0 && name === '') return undefined;
    const certificate = words === '' && /certificate/i.test(message);
    return {
      title: joined(' ', name || 'Uptime monitor', words),
      lines,
      type: certificate ? 'warning' : type,
      link: site,
    };
  },
};
