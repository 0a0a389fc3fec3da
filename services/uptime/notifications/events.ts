import type { NotificationType } from '../../contracts/notify/notification.ts';
import { explainFailure } from '../../contracts/uptime/causes.ts';
import type { DueWarning } from '../domain/certificate.ts';
import type { JudgedBeat } from '../domain/judge.ts';
import { targetOf } from '../domain/target.ts';
import { slotWords } from '../domain/slot-format.ts';
import { durationWords } from '../domain/time-format.ts';

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
export interface Subject {
  readonly id: number;
  readonly config: Readonly<Record<string, unknown>> & { readonly name: string; readonly type: string };
}

export function downEvent(subject: Subject, beat: JudgedBeat, repeat: number | undefined): UptimeEvent {
  const { name } = subject.config;
  return {
    title: `[Down] ${name}`,
    body: bodyOf(subject, beat.msg),
    type: 'failure',
    event: {
      id: `down:${String(subject.id)}:${String(beat.at)}`,
      kind: 'down',
      ...about(subject, beat),
      ...(repeat === undefined ? {} : { repeat, downSince: iso(repeat) }),
    },
  };
}

export function upEvent(subject: Subject, beat: JudgedBeat, downSince: number): UptimeEvent {
  return {
    title: `[Up] ${subject.config.name}`,
    body: `${bodyOf(subject, beat.msg)}\nIt was down for ${durationWords(beat.at - downSince)}.`,
    type: 'success',
    event: {
      id: `up:${String(subject.id)}:${String(beat.at)}`,
      kind: 'up',
      ...about(subject, beat),
      downSince: iso(downSince),
      downSeconds: Math.round((beat.at - downSince) / 1000),
    },
  };
}

/** Reports that flapping began or ended. */
export function flapEvent(subject: Subject, beat: JudgedBeat, flapping: boolean): UptimeEvent {
  const kind = flapping || beat.status !== 1 ? 'down' : 'up';
  return {
    title: `[${flapping ? 'Flapping' : 'Steady again'}] ${subject.config.name}`,
    body: flapping
      ? `${bodyOf(subject, beat.msg)}\nIt goes up and down. Until it is steady nothing more is said of it.`
      : `${bodyOf(subject, beat.msg)}\nIt is ${beat.status === 1 ? 'up' : 'down'} and has not changed for a while.`,
    type: kind === 'up' ? 'success' : 'failure',
    event: {
      id: `${flapping ? 'flapping' : 'steady'}:${String(subject.id)}:${String(beat.at)}`,
      kind,
      ...about(subject, beat),
      flapping,
    },
  };
}

export function certificateEvent(subject: Subject, warning: DueWarning, now: number): UptimeEvent {
  const { subject: subjectCN, daysRemaining, validTo, fingerprint256, threshold } = warning;
  const over = validTo <= now;
  const left = over ? 'expired' : `${String(daysRemaining)} ${daysRemaining === 1 ? 'day' : 'days'} left`;
  const until = new Date(validTo).toISOString();
  return {
    title: `[Certificate] ${subject.config.name}: ${left}`,
    body: `The certificate ${subjectCN} of ${targetOf(subject.config)} ${over ? 'ended' : 'ends'} ${until.slice(0, 10)}.`,
    type: over || daysRemaining <= 1 ? 'failure' : 'warning',
    event: {
      id: `cert_expiry:${String(subject.id)}:${fingerprint256}:${String(threshold)}`,
      kind: 'cert_expiry',
      ...who(subject),
      at: iso(now),
      daysRemaining,
      validTo: until,
      subjectCN,
      fingerprint256,
      threshold,
    },
  };
}

export function slowEvent(
  subject: Subject,
  figures: { readonly current: number; readonly median: number; readonly threshold: number },
  at: number,
): UptimeEvent {
  const { current, median, threshold } = figures;
  const [now, usual] = [Math.round(current), Math.round(median)];
  return {
    title: `[Slow] ${subject.config.name}: ${String(now)} ms (normally ${String(usual)} ms)`,
    body: `${targetOf(subject.config) || subject.config.name} answers in ${String(now)} ms; normally it takes ${String(usual)} ms.`,
    type: 'warning',
    event: {
      id: `degraded:${String(subject.id)}:${String(at)}`,
      kind: 'degraded',
      ...who(subject),
      at: iso(at),
      current: now,
      baseline: usual,
      threshold: Math.round(threshold),
      since: iso(at),
    },
  };
}

export function normalEvent(
  subject: Subject,
  figures: { readonly current: number; readonly median: number; readonly threshold: number; readonly since: number },
  at: number,
): UptimeEvent {
  const { current, median, threshold, since } = figures;
  return {
    title: `[Normal again] ${subject.config.name}`,
    body: `It answers in ${String(Math.round(current))} ms, and was slow for ${durationWords(at - since)}.`,
    type: 'success',
    event: {
      id: `degraded_resolved:${String(subject.id)}:${String(at)}`,
      kind: 'degraded_resolved',
      ...who(subject),
      at: iso(at),
      current: Math.round(current),
      baseline: Math.round(median),
      threshold: Math.round(threshold),
      since: iso(since),
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

export type WindowMoment = 'maintenance_reminder' | 'maintenance_started' | 'maintenance_ended';

/** @param seconds Configured lead time of a reminder */
export function windowEvent(window: AnnouncedWindow, kind: WindowMoment, now: number, seconds?: number): UptimeEvent {
  const { id, title, description, start, end, zone, monitorIds } = window;
  const words = {
    maintenance_reminder: `starts in ${roughWords(start - now)}`,
    maintenance_started: 'has started',
    maintenance_ended: 'has ended',
  }[kind];
  return {
    title: `[Maintenance] ${title} ${words}`,
    body: [`${slotWords(window, zone)}.`, description].filter((part) => part !== '').join('\n'),
    type: 'info',
    event: {
      id: `${kind}:${String(id)}:${String(start)}${seconds === undefined ? '' : `:${String(seconds)}`}`,
      kind,
      at: iso(now),
      maintenanceId: id,
      maintenanceTitle: title,
      startsAt: iso(start),
      endsAt: Number.isFinite(end) ? iso(end) : null,
      monitorIds,
    },
  };
}

/** Rounds to minutes, so that a delayed reminder still shows "1 h". */
function roughWords(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 1 ? durationWords(ms) : durationWords(minutes * 60_000);
}

function about(subject: Subject, beat: JudgedBeat) {
  return { ...who(subject), at: iso(beat.at), msg: beat.msg, status: beat.status };
}

function who({ id, config }: Subject) {
  return { monitorId: id, monitorName: config.name, monitorType: config.type, target: targetOf(config) };
}

/** Returns the explained cause and the target. Never empty, because some receivers reject empty bodies. */
function bodyOf({ config }: Subject, msg: string): string {
  const cause = explainFailure(msg) ?? '';
  const target = targetOf(config);
  const parts = [cause, cause.includes(target) ? '' : target, cause === '' ? msg : ''];
  return parts.filter((part) => part !== '').join('\n') || config.name;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
