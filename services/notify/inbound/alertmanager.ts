import * as m from '#messages/notify-inbound';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import type { Payload } from './payload.ts';
import { joinTexts, toLines, buildLinkLine, type TextPart, type InboundAdapter } from './adapter.ts';

/** Maximum number of listed alerts; further ones are counted. */
const maxAlerts = 20;
/** Labels that are redundant or only internal. */
const hiddenLabels = new Set(['alertname', 'severity', 'job', 'prometheus', 'grafana_folder', '__alert_rule_uid__']);

/** Returns the type of a firing alert, by the label that most rules have. */
export function parseSeverity(severity: string): NotificationType {
  const lowerCase = severity.toLowerCase();
  if (['info', 'information', 'informational', 'none', 'debug', 'low'].includes(lowerCase)) return 'info';
  return ['warning', 'warn', 'medium', 'minor'].includes(lowerCase) ? 'warning' : 'failure';
}

/** Formats a time without fractions; empty for the year 1, which means "not yet". */
function formatMoment(text: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)$/.exec(text) ?? [];
  if (day === undefined || time === undefined) return text;
  return day.startsWith('0001') ? '' : `${day} ${time} UTC`;
}

/** Formats one alert: summary, description, labels and start time. */
export function formatAlert(
  alert: Payload,
  omittedLabels: ReadonlySet<string>,
  values = '',
): readonly (readonly TextPart[])[] {
  const resolved = alert.text('status') === 'resolved';
  const summary = alert.text('annotations.summary') || alert.text('annotations.title');
  const description = alert.lines('annotations.description') || alert.lines('annotations.message');
  const labels = alert
    .pairs('labels')
    .filter(([name]) => !hiddenLabels.has(name) && !omittedLabels.has(name))
    .map(([name, text]) => `${name}: ${text}`);
  const [firstLine = '', ...more] = description.split('\n').map((line) => line.trim());
  const name = summary || firstLine || alert.text('labels.alertname') || m.alert();
  const moment = formatMoment(alert.text(resolved ? 'endsAt' : 'startsAt'));
  const formatTime = resolved ? m.resolved : m.since;
  const time = moment === '' ? '' : formatTime({ time: moment });
  return [
    [resolved ? '✅ ' : '🔥 ', { strong: name }],
    ...(summary !== '' && description !== summary ? toLines(description) : more.map((line) => [line])),
    ...[joinTexts(', ', ...labels), values, time].filter((text) => text !== '').map((text) => [text]),
    ...buildLinkLine(m.source(), alert.link('panelURL') ?? alert.link('dashboardURL') ?? alert.link('generatorURL')),
  ];
}

/** Formats alerts, firing before resolved ones, with the number of omitted ones. */
export function formatAlerts(
  payload: Payload,
  alerts: readonly Payload[],
  formatLines: (alert: Payload) => readonly (readonly TextPart[])[],
): readonly (readonly TextPart[])[] {
  const isFiring = (alert: Payload): boolean => alert.text('status') !== 'resolved';
  const sorted = [...alerts.filter(isFiring), ...alerts.filter((alert) => !isFiring(alert))];
  const remaining = Math.max(0, sorted.length - maxAlerts) + Math.max(0, payload.number('truncatedAlerts') ?? 0);
  const written = sorted
    .slice(0, maxAlerts)
    .flatMap((alert, index) => [...(index === 0 ? [] : [['']]), ...formatLines(alert)]);
  return [...written, ...(remaining === 0 ? [] : [[''], [m.moreAlerts({ count: remaining })]])];
}

/** Adapter for Alertmanager's webhook, also without a group key as tests and proxies send it. */
export const alertmanager: InboundAdapter = {
  name: 'Alertmanager',
  matches: (payload) =>
    payload.hasKey('alerts') && (payload.hasKey('groupKey') || (payload.has('receiver') && payload.has('status'))),
  parse(payload) {
    const alerts = payload.list('alerts');
    const firing = alerts.filter((alert) => alert.text('status') === 'firing');
    const resolved = payload.text('status') === 'resolved';
    if (alerts.length === 0) return undefined;
    const name =
      payload.text('groupLabels.alertname') ||
      payload.text('commonLabels.alertname') ||
      joinTexts(', ', ...payload.pairs('groupLabels').map(([, text]) => text)) ||
      m.alerts();
    const instance = payload.text('commonLabels.instance');
    const count = `${resolved ? 'RESOLVED' : 'FIRING'}:${resolved ? alerts.length : firing.length}`;
    const severities = firing.map((alert) => parseSeverity(alert.text('labels.severity')));
    const highestType =
      (['failure', 'warning', 'info'] as const).find((type) => severities.includes(type)) ?? 'failure';
    const omittedLabels = new Set(instance === '' ? [] : ['instance']);
    return {
      title: joinTexts(' ', `[${count}]`, name, instance === '' ? '' : `(${instance})`),
      lines: formatAlerts(payload, alerts, (alert) => formatAlert(alert, omittedLabels)),
      type: resolved ? 'success' : highestType,
      link: payload.link('externalURL'),
    };
  },
};
