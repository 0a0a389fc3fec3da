import * as m from '#messages/notify-inbound';
import { findOwn } from '../../contracts/find-own.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { toLines, buildLinkLine, type InboundAdapter } from './adapter.ts';

type FormatTitle = (values: { readonly name: string }) => string;

const states: Readonly<Record<string, readonly [formatTitle: FormatTitle, type: NotificationType]>> = {
  0: [m.monitorDown, 'failure'],
  1: [m.monitorUp, 'success'],
  2: [m.monitorPending, 'warning'],
  3: [m.monitorInMaintenance, 'warning'],
};

/** Adapter for Uptime Kuma's JSON webhook. Heartbeat and monitor are null for tests and certificates. */
export const uptimeKuma: InboundAdapter = {
  name: 'Uptime Kuma',
  matches: (payload) => payload.hasKey('heartbeat') && payload.hasKey('monitor') && payload.hasKey('msg'),
  parse(payload) {
    const message = payload.lines('msg');
    const name = payload.text('monitor.name') || payload.text('monitor.pathName');
    const state = findOwn(states, payload.text('heartbeat.status'));
    const [formatTitle, type] = state ?? [(values: { readonly name: string }) => values.name, 'info' as const];
    const address = payload.link('monitor.url');
    // Uptime Kuma sends `https://` for monitors without an address.
    const site = address === undefined || /^https?:\/\/$/.test(address) ? undefined : address;
    const lines = [...toLines(message || payload.lines('heartbeat.msg')), ...buildLinkLine(m.monitor(), site)];
    if (lines.length === 0 && name === '') return undefined;
    const isCertificateNotice = state === undefined && /certificate/i.test(message);
    return {
      title: formatTitle({ name: name || m.uptimeMonitor() }),
      lines,
      type: isCertificateNotice ? 'warning' : type,
      link: site,
    };
  },
};
