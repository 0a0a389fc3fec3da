import * as m from '#messages/desktop';
import { defineDateFormat, formatNumber } from '../../messages/format.ts';
import type { UpdateState } from '../../services/contracts/control/desktop.ts';
import type { HostPhase } from './host-process.ts';
import type { NoticeContent } from './notice-page.ts';
import type { HostStatus } from './status.ts';

/** Appearance of the tray icon: outline, filled, crossed, dimmed. */
export type TrayState = 'normal' | 'attention' | 'error' | 'paused';

/** Data of the tray menu. */
export interface MenuStatus extends HostStatus {
  /** Phase of the services' process; the other fields are known while it runs. */
  readonly phase: HostPhase;
  readonly startsAtLogin: boolean;
  /** Closing the window leaves the app in the tray. */
  readonly keepsRunning: boolean;
  readonly update: UpdateState;
  /** ms since the epoch. */
  readonly now: number;
}

/** End of "until morning", hour of the day. */
const morning = 8;

/** Returns the state of the tray icon: failures precede urgent messages, which precede a pause. */
export function getTrayState({ phase, services, popups, urgent, now }: MenuStatus): TrayState {
  if (phase === 'silent' || phase === 'waiting') return 'error';
  if (phase !== 'running') return 'paused';
  if (services.some(({ state }) => state === 'failed')) return 'error';
  if (urgent > 0) return 'attention';
  return isPaused(popups.pausedUntil, now) ? 'paused' : 'normal';
}

const phaseLines: Readonly<Record<Exclude<HostPhase, 'running'>, () => string>> = {
  starting: m.phaseStarting,
  silent: m.phaseSilent,
  waiting: m.phaseWaiting,
  stopped: m.phaseStopped,
};

/** Returns the notice of the window while the services have no page. */
export function getPhaseNotice(phase: HostPhase, reason: string | null): NoticeContent {
  const title = phase === 'running' ? m.noPage() : phaseLines[phase]();
  return { title, text: reason ?? formatUsualReason(phase) };
}

function formatUsualReason(phase: HostPhase): string {
  if (phase === 'waiting') return m.waitingText();
  return phase === 'running' ? m.noPageText() : m.phaseText();
}

/** Describes the state of the tray icon in one line. */
export function formatStatus(status: MenuStatus): string {
  if (status.phase !== 'running') return phaseLines[status.phase]();
  const failed = status.services.filter(({ state }) => state === 'failed');
  switch (getTrayState(status)) {
    case 'error':
      return failed.length === 1
        ? m.serviceNotRunning({ service: failed[0]?.title ?? '' })
        : m.servicesNotRunning({ count: failed.length });
    case 'attention':
      return m.urgentMessages({ count: status.urgent });
    case 'paused':
      return formatPausedUntil(status.popups.pausedUntil ?? 0, status.now);
    case 'normal': {
      const on = status.services.filter(({ state }) => state !== 'off').length;
      const count = status.services.length;
      return on === count
        ? m.allServicesRunning()
        : m.someServicesRunning({ running: formatNumber(on), count: formatNumber(count) });
    }
  }
}

/** Returns whether a pause has not ended yet. */
export function isPaused(until: number | null, now: number): boolean {
  return until !== null && until > now;
}

/** Returns the next local 8:00, ms since the epoch. */
export function nextMorning(now: number): number {
  const day = new Date(now);
  if (day.getHours() >= morning) day.setDate(day.getDate() + 1);
  return day.setHours(morning, 0, 0, 0);
}

const formatTime = defineDateFormat({ hour: '2-digit', minute: '2-digit' });
const formatWeekday = defineDateFormat({ weekday: 'long' });

/** Describes a pause by its end: the time of day, with the weekday on another day. */
export function formatPausedUntil(until: number, now: number): string {
  const time = formatTime(until);
  return new Date(until).toDateString() === new Date(now).toDateString()
    ? m.pausedUntil({ time })
    : m.pausedUntilDay({ day: formatWeekday(until), time });
}
