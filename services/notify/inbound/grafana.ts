import * as m from '#messages/notify-inbound';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { formatAlert, formatAlerts, parseSeverity } from './alertmanager.ts';
import type { Payload } from './payload.ts';
import { joinTexts, toLines, buildLinkLine, type InboundAdapter } from './adapter.ts';

function parseType(payload: Payload): NotificationType {
  const state = payload.text('state').toLowerCase() || payload.text('status').toLowerCase();
  if (['ok', 'resolved', 'normal'].includes(state)) return 'success';
  if (['no_data', 'nodata', 'pending', 'paused'].includes(state)) return 'warning';
  const severity = payload.text('commonLabels.severity');
  return severity === '' ? 'failure' : parseSeverity(severity);
}

function formatValues(alert: Payload): string {
  return joinTexts(', ', ...alert.pairs('values').map(([name, value]) => (value === '' ? '' : `${name} = ${value}`)));
}

/** Default text of `message`, without a custom template in the contact point. */
const defaultMessage = /^\s*\*\*(?:Firing|Resolved)\*\*\s*\n\s*(?:Value:|Labels:)/;

/** Adapter for unified alerting: Alertmanager's format with Grafana's title, state and values. */
export const grafana: InboundAdapter = {
  name: 'Grafana',
  matches: (payload) =>
    payload.hasKey('alerts') && payload.has('title') && (payload.has('orgId') || payload.has('state')),
  parse(payload) {
    const alerts = payload.list('alerts');
    const lines = formatAlerts(payload, alerts, (alert) => formatAlert(alert, new Set(), formatValues(alert)));
    const [first] = alerts;
    const message = payload.fullText('message').trim();
    const isCustomMessage = message !== '' && (alerts.length === 0 || !defaultMessage.test(message));
    return {
      title: payload.text('title'),
      lines,
      ...(isCustomMessage ? { body: message } : {}),
      type: parseType(payload),
      link:
        (alerts.length === 1 ? (first?.link('panelURL') ?? first?.link('dashboardURL')) : undefined) ??
        payload.link('externalURL'),
    };
  },
};

/** Adapter for legacy dashboard alerts, which Grafana supported until version 11. */
export const legacyGrafana: InboundAdapter = {
  name: 'Grafana',
  matches: (payload) => payload.has('ruleName') && payload.has('state') && payload.hasKey('evalMatches'),
  parse(payload) {
    const matches = payload
      .list('evalMatches')
      .map((match) => [`${match.text('metric') || 'value'}: ${match.text('value')}`]);
    return {
      title: payload.text('title') || `[${payload.text('state')}] ${payload.text('ruleName')}`,
      lines: [
        ...toLines(payload.lines('message')),
        ...matches.slice(0, 20),
        ...buildLinkLine(m.picture(), payload.link('imageUrl')),
      ],
      type: parseType(payload),
      link: payload.link('ruleUrl'),
    };
  },
};
