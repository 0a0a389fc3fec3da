import { currentPlatform } from '../../kit/platform/current-platform.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { explainFailure } from '../../contracts/uptime/causes.ts';
import type { DueWarning } from '../domain/certificate.ts';
import type { JudgedHeartbeat } from '../domain/judge.ts';
import { getTarget } from '../domain/target.ts';
import { formatSlot } from '../domain/slot-format.ts';
import { formatDuration } from '../domain/time-format.ts';

export type EventKind =
  | 'down'
  | 'up'
  | 'cert_expiry'
  | 'degraded'
  | 'degraded_resolved'
  | 'maintenance_reminder'
  | 'maintenance_started'
  | 'maintenance_ended';

/** Event in the form in which it is stored and sent. */
export interface UptimeEvent {
  readonly title: string;
  readonly body: string;
  readonly type: NotificationType;
  /** Machine-readable form with fields that depend on the kind. */
  readonly event: { readonly id: string; readonly kind: EventKind } & Readonly<Record<string, unknown>>;
}

/** Monitor that an event is about. */
export interface EventSubject {
  readonly id: number;
  readonly config: Readonly<Record<string, unknown>> & { readonly name: string; readonly type: string };
}

export function buildDownEvent(
  subject: EventSubject,
  heartbeat: JudgedHeartbeat,
  repeat: number | undefined,
): UptimeEvent {
  const { name } = subject.config;
  return {
    title: `[Down] ${name}`,
    body: buildBody(subject, heartbeat.msg),
    type: 'failure',
    event: {
      id: `down:${String(subject.id)}:${String(heartbeat.at)}`,
      kind: 'down',
      ...buildHeartbeatFields(subject, heartbeat),
      ...(repeat === undefined ? {} : { repeat, downSince: toIso(repeat) }),
    },
  };
}

export function buildUpEvent(subject: EventSubject, heartbeat: JudgedHeartbeat, downSince: number): UptimeEvent {
  return {
    title: `[Up] ${subject.config.name}`,
    body: `${buildBody(subject, heartbeat.msg)}\nIt was down for ${formatDuration(heartbeat.at - downSince)}.`,
    type: 'success',
    event: {
      id: `up:${String(subject.id)}:${String(heartbeat.at)}`,
      kind: 'up',
      ...buildHeartbeatFields(subject, heartbeat),
      downSince: toIso(downSince),
      downSeconds: Math.round((heartbeat.at - downSince) / 1000),
    },
  };
}

/** Reports that flapping began or ended. */
export function buildFlappingEvent(subject: EventSubject, heartbeat: JudgedHeartbeat, flapping: boolean): UptimeEvent {
  const kind = flapping || heartbeat.status !== 1 ? 'down' : 'up';
  return {
    title: `[${flapping ? 'Flapping' : 'Steady again'}] ${subject.config.name}`,
    body: flapping
      ? `${buildBody(subject, heartbeat.msg)}\nIt goes up and down. Until it is steady nothing more is said of it.`
      : `${buildBody(subject, heartbeat.msg)}\nIt is ${heartbeat.status === 1 ? 'up' : 'down'} and has not changed for a while.`,
    type: kind === 'up' ? 'success' : 'failure',
    event: {
      id: `${flapping ? 'flapping' : 'steady'}:${String(subject.id)}:${String(heartbeat.at)}`,
      kind,
      ...buildHeartbeatFields(subject, heartbeat),
      flapping,
    },
  };
}

export function buildCertificateEvent(subject: EventSubject, warning: DueWarning, now: number): UptimeEvent {
  const { subject: subjectCN, daysRemaining, validTo, fingerprint256, threshold } = warning;
  const isExpired = validTo <= now;
  const remainingText = isExpired ? 'expired' : `${String(daysRemaining)} ${daysRemaining === 1 ? 'day' : 'days'} left`;
  const until = new Date(validTo).toISOString();
  return {
    title: `[Certificate] ${subject.config.name}: ${remainingText}`,
    body: `The certificate ${subjectCN} of ${getTarget(subject.config)} ${isExpired ? 'ended' : 'ends'} ${until.slice(0, 10)}.`,
    type: isExpired || daysRemaining <= 1 ? 'failure' : 'warning',
    event: {
      id: `cert_expiry:${String(subject.id)}:${fingerprint256}:${String(threshold)}`,
      kind: 'cert_expiry',
      ...buildMonitorFields(subject),
      at: toIso(now),
      daysRemaining,
      validTo: until,
      subjectCN,
      fingerprint256,
      threshold,
    },
  };
}

export function buildSlowEvent(
  subject: EventSubject,
  figures: { readonly current: number; readonly median: number; readonly threshold: number },
  timestamp: number,
): UptimeEvent {
  const { current, median, threshold } = figures;
  const [now, baseline] = [Math.round(current), Math.round(median)];
  return {
    title: `[Slow] ${subject.config.name}: ${String(now)} ms (normally ${String(baseline)} ms)`,
    body: `${getTarget(subject.config) || subject.config.name} answers in ${String(now)} ms; normally it takes ${String(baseline)} ms.`,
    type: 'warning',
    event: {
      id: `degraded:${String(subject.id)}:${String(timestamp)}`,
      kind: 'degraded',
      ...buildMonitorFields(subject),
      at: toIso(timestamp),
      current: now,
      baseline,
      threshold: Math.round(threshold),
      since: toIso(timestamp),
    },
  };
}

export function buildNormalEvent(
  subject: EventSubject,
  figures: { readonly current: number; readonly median: number; readonly threshold: number; readonly since: number },
  timestamp: number,
): UptimeEvent {
  const { current, median, threshold, since } = figures;
  return {
    title: `[Normal again] ${subject.config.name}`,
    body: `It answers in ${String(Math.round(current))} ms, and was slow for ${formatDuration(timestamp - since)}.`,
    type: 'success',
    event: {
      id: `degraded_resolved:${String(subject.id)}:${String(timestamp)}`,
      kind: 'degraded_resolved',
      ...buildMonitorFields(subject),
      at: toIso(timestamp),
      current: Math.round(current),
      baseline: Math.round(median),
      threshold: Math.round(threshold),
      since: toIso(since),
    },
  };
}

/** Maintenance window of an event. */
export interface AnnouncedWindow {
  readonly id: number;
  readonly title: string;
  readonly description: string;
  readonly start: number;
  /** Infinite when the window is ended manually. */
  readonly end: number;
  /** Time zone of the times in the message. */
  readonly zone: string;
  readonly monitorIds: readonly number[];
}

export type WindowEventKind = 'maintenance_reminder' | 'maintenance_started' | 'maintenance_ended';

/** @param seconds Configured lead time of a reminder */
export function buildWindowEvent(
  window: AnnouncedWindow,
  kind: WindowEventKind,
  now: number,
  seconds?: number,
): UptimeEvent {
  const { id, title, description, start, end, zone, monitorIds } = window;
  const suffix = {
    maintenance_reminder: `starts in ${formatRoughDuration(start - now)}`,
    maintenance_started: 'has started',
    maintenance_ended: 'has ended',
  }[kind];
  return {
    title: `[Maintenance] ${title} ${suffix}`,
    body: [`${formatSlot(window, zone)}.`, description].filter((part) => part !== '').join('\n'),
    type: 'info',
    event: {
      id: `${kind}:${String(id)}:${String(start)}${seconds === undefined ? '' : `:${String(seconds)}`}`,
      kind,
      at: toIso(now),
      maintenanceId: id,
      maintenanceTitle: title,
      startsAt: toIso(start),
      endsAt: Number.isFinite(end) ? toIso(end) : null,
      monitorIds,
    },
  };
}

/** Rounds to minutes, so that a delayed reminder still shows "1 h". */
function formatRoughDuration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 1 ? formatDuration(ms) : formatDuration(minutes * 60_000);
}

function buildHeartbeatFields(subject: EventSubject, heartbeat: JudgedHeartbeat) {
  return { ...buildMonitorFields(subject), at: toIso(heartbeat.at), msg: heartbeat.msg, status: heartbeat.status };
}

function buildMonitorFields({ id, config }: EventSubject) {
  return { monitorId: id, monitorName: config.name, monitorType: config.type, target: getTarget(config) };
}

/** Returns the explained cause and the target. Never empty, because some receivers reject empty bodies. */
function buildBody({ config }: EventSubject, msg: string): string {
  const cause = explainFailure(msg, currentPlatform) ?? '';
  const target = getTarget(config);
  const parts = [cause, cause.includes(target) ? '' : target, cause === '' ? msg : ''];
  return parts.filter((part) => part !== '').join('\n') || config.name;
}

function toIso(timestamp: number): string {
  return new Date(timestamp).toISOString();
}
