import type { NotificationType } from '../../contracts/notify/notification.ts';
import { alertLines, alertsLines, typeOfSeverity } from './alertmanager.ts';
import type { Part } from './payload.ts';
import { joined, linesOf, linkLine, type Program } from './adapter.ts';

function typeOf(payload: Part): NotificationType {
  const state = payload.text('state').toLowerCase() || payload.text('status').toLowerCase();
  if (['ok', 'resolved', 'normal'].includes(state)) return 'success';
  if (['no_data', 'nodata', 'pending', 'paused'].includes(state)) return 'warning';
  const severity = payload.text('commonLabels.severity');
  return severity === '' ? 'failure' : typeOfSeverity(severity);
}

function valuesOf(alert: Part): string {
  return joined(', ', ...alert.pairs('values').map(([name, value]) => (value === '' ? '' : `${name} = ${value}`)));
}

/** What Grafana writes into `message` unless the contact point has a template of its own. */
const defaultMessage = /^\s*\*\*(?:Firing|Resolved)\*\*\s*\n\s*(?:Value:|Labels:)/;

/** Unified alerting: Alertmanager's shape with Grafana's own title, state and values. */
export const grafana: Program = {
  name: 'Grafana',
  claims: (payload) => payload.names('alerts') && payload.has('orgId') && payload.has('title'),
  read(payload) {
    const alerts = payload.list('alerts');
    const lines = alertsLines(payload, alerts, (alert) => alertLines(alert, new Set(), valuesOf(alert)));
    const [first] = alerts;
    const message = payload.whole('message').trim();
    const isOwn = message !== '' && (alerts.length === 0 || !defaultMessage.test(message));
    return {
      title: payload.text('title'),
      lines,
      ...(isOwn ? { body: message } : {}),
      type: typeOf(payload),
      link:
        (alerts.length === 1 ? (first?.link('panelURL') ?? first?.link('dashboardURL')) : undefined) ??
        payload.link('externalURL'),
    };
  },
};

/** The webhook of dashboards' own alerts, which Grafana had until version 11. */
export const legacyGrafana: Program = {
  name: 'Grafana',
  claims: (payload) => payload.has('ruleName') && payload.has('state') && payload.names('evalMatches'),
  read(payload) {
    const matches = payload
      .list('evalMatches')
      .map((match) => [`${match.text('metric') || 'value'}: ${match.text('value')}`]);
    return {
      title: payload.text('title') || `[${payload.text('state')}] ${payload.text('ruleName')}`,
      lines: [
        ...linesOf(payload.lines('message')),
        ...matches.slice(0, 20),
        ...linkLine('Picture', payload.link('imageUrl')),
      ],
      type: typeOf(payload),
      link: payload.link('ruleUrl'),
    };
  },
};
