import type { NotificationType } from '../../contracts/notify/notification.ts';
import { formatCount } from '../../kit/format-count.ts';
import type { Part } from './payload.ts';
import { joined, linesOf, linkLine, type Piece, type Program } from './adapter.ts';

/** Alerts that are written out; the others are counted. */
const mostAlerts = 20;
/** Labels that say nothing beyond what the rest says, or only something to the program itself. */
const dull = new Set(['alertname', 'severity', 'job', 'prometheus', 'grafana_folder', '__alert_rule_uid__']);

/** How loud a firing alert is, by the label most rules have. */
export function typeOfSeverity(severity: string): NotificationType {
  const word = severity.toLowerCase();
  if (['info', 'information', 'informational', 'none', 'debug', 'low'].includes(word)) return 'info';
  return ['warning', 'warn', 'medium', 'minor'].includes(word) ? 'warning' : 'failure';
}

/** A moment as alerts write it, without its fractions; empty for the year 1, which means "not yet". */
function moment(text: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00)$/.exec(text) ?? [];
  if (day === undefined || time === undefined) return text;
  return day.startsWith('0001') ? '' : `${day} ${time} UTC`;
}

/** What one alert says: what it is about, in words, and since when. */
export function alertLines(alert: Part, shown: ReadonlySet<string>, values = ''): readonly (readonly Piece[])[] {
  const resolved = alert.text('status') === 'resolved';
  const summary = alert.text('annotations.summary') || alert.text('annotations.title');
  const description = alert.lines('annotations.description') || alert.lines('annotations.message');
  const labels = alert
    .pairs('labels')
    .filter(([name]) => !dull.has(name) && !shown.has(name))
    .map(([name, text]) => `${name}: ${text}`);
  const [first = '', ...more] = description.split('\n').map((line) => line.trim());
  const name = summary || first || alert.text('labels.alertname') || 'Alert';
  const since = moment(alert.text(resolved ? 'endsAt' : 'startsAt'));
  const time = since === '' ? '' : `${resolved ? 'Resolved' : 'Since'} ${since}`;
  return [
    [resolved ? '✅ ' : '🔥 ', { strong: name }],
    ...(summary !== '' && description !== summary ? linesOf(description) : more.map((line) => [line])),
    ...[joined(', ', ...labels), values, time].filter((text) => text !== '').map((text) => [text]),
    ...linkLine('Source', alert.link('panelURL') ?? alert.link('dashboardURL') ?? alert.link('generatorURL')),
  ];
}

/** Firing alerts before resolved ones, each with its lines, and how many are left out. */
export function alertsLines(
  payload: Part,
  alerts: readonly Part[],
  lines: (alert: Part) => readonly (readonly Piece[])[],
): readonly (readonly Piece[])[] {
  const isFiring = (alert: Part): boolean => alert.text('status') !== 'resolved';
  const sorted = [...alerts.filter(isFiring), ...alerts.filter((alert) => !isFiring(alert))];
  const left = Math.max(0, sorted.length - mostAlerts) + Math.max(0, payload.number('truncatedAlerts') ?? 0);
  const written = sorted.slice(0, mostAlerts).flatMap((alert, at) => [...(at === 0 ? [] : [['']]), ...lines(alert)]);
  return [...written, ...(left === 0 ? [] : [[''], [`and ${formatCount(left, 'more alert')}`]])];
}

/** Alertmanager's webhook, version 4: one post a group, firing or resolved. */
export const alertmanager: Program = {
  name: 'Alertmanager',
  claims: (payload) => payload.text('version') === '4' && payload.names('alerts') && payload.names('groupKey'),
  read(payload) {
    const alerts = payload.list('alerts');
    const firing = alerts.filter((alert) => alert.text('status') === 'firing');
    const resolved = payload.text('status') === 'resolved';
    if (alerts.length === 0) return undefined;
    const name =
      payload.text('groupLabels.alertname') ||
      payload.text('commonLabels.alertname') ||
      joined(', ', ...payload.pairs('groupLabels').map(([, text]) => text)) ||
      'Alerts';
    const instance = payload.text('commonLabels.instance');
    const count = `${resolved ? 'RESOLVED' : 'FIRING'}:${resolved ? alerts.length : firing.length}`;
    const severities = firing.map((alert) => typeOfSeverity(alert.text('labels.severity')));
    const loudest = (['failure', 'warning', 'info'] as const).find((type) => severities.includes(type)) ?? 'failure';
    const common = new Set(instance === '' ? [] : ['instance']);
    return {
      title: joined(' ', `[${count}]`, name, instance === '' ? '' : `(${instance})`),
      lines: alertsLines(payload, alerts, (alert) => alertLines(alert, common)),
      type: resolved ? 'success' : loudest,
      link: payload.link('externalURL'),
    };
  },
};
