import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { joinTexts, toLines, buildLinkLine, type InboundAdapter } from './adapter.ts';

const states: Readonly<Record<string, readonly [label: string, type: NotificationType]>> = {
  0: ['is down', 'failure'],
  1: ['is up', 'success'],
  2: ['is pending', 'warning'],
  3: ['is in maintenance', 'warning'],
};

/** Adapter for Uptime Kuma's JSON webhook. Heartbeat and monitor are null for tests and certificates. */
export const uptimeKuma: InboundAdapter = {
  name: 'Uptime Kuma',
  matches: (payload) => payload.hasKey('heartbeat') && payload.hasKey('monitor') && payload.hasKey('msg'),
  parse(payload) {
    const message = payload.lines('msg');
    const name = payload.text('monitor.name') || payload.text('monitor.pathName');
    const [stateText, type] = findOwn(states, payload.text('heartbeat.status')) ?? ['', 'info' as const];
    const address = payload.link('monitor.url');
    // Uptime Kuma sends `https://` for monitors without an address.
    const site = address === undefined || /^https?:\/\/$/.test(address) ? undefined : address;
    const lines = [...toLines(message || payload.lines('heartbeat.msg')), ...buildLinkLine('Monitor', site)];
    if (lines.length === 0 && name === '') return undefined;
    const isCertificateNotice = stateText === '' && /certificate/i.test(message);
    return {
      title: joinTexts(' ', name || 'Uptime monitor', stateText),
      lines,
      type: isCertificateNotice ? 'warning' : type,
      link: site,
    };
  },
};
