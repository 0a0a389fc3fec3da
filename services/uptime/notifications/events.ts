import * as m from '#messages/uptime-texts';
import { currentPlatform } from '../../kit/platform/current-platform.ts';
import type { NotificationType } from '../../contracts/notify/notification.ts';
import { explainFailure, type CheckMessage } from '../../contracts/uptime/causes.ts';
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

/** Event that is stored and sent. Its texts are evaluated in the language of the host. */
export interface UptimeEvent {
  readonly title: () => string;
  readonly body: () => string;
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
    title: () => m.eventDown({ name }),
    body: () => buildBody(subject, heartbeat),
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
    title: () => m.eventUp({ name: subject.config.name }),
    body: () => {
      const duration = formatDuration(heartbeat.at - downSince);
      return `${buildBody(subject, heartbeat)}\n${m.wasDownFor({ duration })}`;
    },
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
  const { name } = subject.config;
  const steadyText = heartbeat.status === 1 ? m.steadyUp : m.steadyDown;
  return {
    title: () => (flapping ? m.eventFlapping({ name }) : m.eventSteady({ name })),
    body: () => `${buildBody(subject, heartbeat)}\n${flapping ? m.flappingBody() : steadyText()}`,
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
  const until = new Date(validTo).toISOString();
  const { name } = subject.config;
  const values = { certificate: subjectCN, target: getTarget(subject.config), date: until.slice(0, 10) };
  return {
    title: () => (isExpired ? m.eventCertificateExpired({ name }) : m.eventCertificate({ name, count: daysRemaining })),
    body: () => (isExpired ? m.certificateExpired(values) : m.certificateExpires(values)),
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
    title: () => m.eventSlow({ name: subject.config.name, current: now, usual: baseline }),
    body: () => m.slowBody({ target: getTarget(subject.config) || subject.config.name, current: now, usual: baseline }),
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
    title: () => m.eventNormal({ name: subject.config.name }),
    body: () => m.normalBody({ current: Math.round(current), duration: formatDuration(timestamp - since) }),
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
  const titles = {
    maintenance_reminder: () => m.eventMaintenanceSoon({ title, duration: formatRoughDuration(start - now) }),
    maintenance_started: () => m.eventMaintenanceStarted({ title }),
    maintenance_ended: () => m.eventMaintenanceEnded({ title }),
  };
  return {
    title: titles[kind],
    body: () => [formatSlot(window, zone), description].filter((part) => part !== '').join('\n'),
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
function buildBody({ config }: EventSubject, message: CheckMessage): string {
  const cause = explainFailure(message, currentPlatform) ?? '';
  const target = getTarget(config);
  const parts = [cause, cause.includes(target) ? '' : target, cause === '' ? message.msg : ''];
  return parts.filter((part) => part !== '').join('\n') || config.name;
}

function toIso(timestamp: number): string {
  return new Date(timestamp).toISOString();
}
