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

const phaseLines: Readonly<Record<Exclude<HostPhase, 'running'>, string>> = {
  starting: 'The services are starting',
  silent: 'The services do not answer',
  waiting: 'The services ended by themselves and are started again',
  stopped: 'The services are stopping',
};

/** Returns the notice of the window while the services have no page. */
export function getPhaseNotice(phase: HostPhase, reason: string | null): NoticeContent {
  const title = phase === 'running' ? 'Homeport has no page' : phaseLines[phase];
  const usual =
    phase === 'waiting'
      ? 'The page comes back by itself.'
      : phase === 'running'
        ? 'Its services run; the log says why the page does not.'
        : 'The page comes as soon as they answer.';
  return { title, text: reason ?? usual };
}

/** Describes the state of the tray icon in one line. */
export function formatStatus(status: MenuStatus): string {
  if (status.phase !== 'running') return phaseLines[status.phase];
  const failed = status.services.filter(({ state }) => state === 'failed');
  switch (getTrayState(status)) {
    case 'error':
      return failed.length === 1
        ? `${failed[0]?.title ?? ''} does not run`
        : `${String(failed.length)} services do not run`;
    case 'attention':
      return status.urgent === 1 ? '1 urgent message' : `${String(status.urgent)} urgent messages`;
    case 'paused':
      return `Notifications are paused until ${clock(status.popups.pausedUntil ?? 0, status.now)}`;
    case 'normal': {
      const on = status.services.filter(({ state }) => state !== 'off').length;
      return on === status.services.length
        ? 'All services run'
        : `${String(on)} of ${String(status.services.length)} services run`;
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

/** Formats the time of day, with the weekday on another day. */
export function clock(time: number, now: number): string {
  const [at, today] = [new Date(time), new Date(now)];
  const hours = `${String(at.getHours()).padStart(2, '0')}:${String(at.getMinutes()).padStart(2, '0')}`;
  return at.toDateString() === today.toDateString()
    ? hours
    : `${at.toLocaleDateString('en', { weekday: 'long' })} ${hours}`;
}
