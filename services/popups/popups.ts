import type { Bus } from '../contracts/bus.ts';
import { inboxAdded, inboxSeen, type InboxItem } from '../contracts/inbox/api.ts';
import { pushPopupRules } from '../contracts/push/rules.ts';
import { popupsChanged, type PopupsState } from '../contracts/popups/popups.ts';
import type { Clock, Log } from '../contracts/service.ts';
import { createPopupEventHandler, type PopupEventHandler } from './popup-events.ts';
import { BurstLimiter } from './burst-limiter.ts';
import { PopupStateFile, type SavedPopupState } from './popup-state-file.ts';
import type { Notifier, Popup } from '../contracts/popups/desktop.ts';
import { PushTopics } from './push-topics.ts';
import { parseQuietSpans, getQuietEnd, createWallClock, type WallClock } from '../contracts/quiet-hours.ts';
import { Reminders } from './reminders.ts';
import type { PopupSettings } from './settings.ts';
import {
  toBrief,
  buildBurstPopup,
  buildHeldPopup,
  buildMessagePopup,
  buildUrgentPopup,
  getHandling,
  type Brief,
} from './rules.ts';
import { Tally, type CountedMessage } from './tally.ts';

/** Maximum number of popups in ten seconds per source and in total before they are summarized. */
const maxPerSource = 3;
const maxTotal = 9;
const maxPauseMs = 366 * 24 * 3_600_000;
/**
 * Interval in ms at which time-dependent state is checked, because the clock, the zone or suspension may have changed
 * it.
 */
const checkIntervalMs = 60_000;
/** Delay in ms that combines updates of the held messages for pages. */
const updateDelayMs = 250;

/** Actions of a notification. */
export interface PopupActions {
  /** Opens a page of Homeport such as `/inbox/12`. */
  readonly openPage: (path: string) => void;
  /** Opens an http or https URL. */
  readonly openLink: (url: string) => void;
  readonly markRead: (ids: readonly number[]) => Promise<void>;
  /** Runs work whose texts are in the language of the host. */
  readonly inHostLanguage: <T>(work: () => T) => T;
}

export interface PopupsOptions {
  /** File for state that survives a restart. */
  readonly file: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly notifier: Pick<Notifier, 'name' | 'show'>;
  /** Read on each use. */
  readonly settings: () => PopupSettings;
  /** Time zone of the quiet hours; defaults to that of the computer. */
  readonly zone?: string;
  readonly actions: PopupActions;
}

export interface Popups extends AsyncDisposable {
  state(): PopupsState;
  /**
   * Pauses popups until a time in ms since the epoch; null or a past time ends the pause and summarizes held messages.
   */
  pause(until: number | null): PopupsState;
  /** Applies changed settings. */
  refresh(): void;
}

/** Shows messages of the inbox as native popups, following the rules. */
export async function openPopups(options: PopupsOptions): Promise<Popups> {
  return new InboxPopups(options, await PopupStateFile.read(options.file, options.log));
}

class InboxPopups implements Popups {
  readonly #options: PopupsOptions;
  readonly #stateFile: PopupStateFile;
  readonly #wallClock: WallClock;
  readonly #heldTally: Tally;
  readonly #topics: PushTopics;
  readonly #urgent: Reminders;
  readonly #sourceLimiter: BurstLimiter;
  readonly #totalLimiter: BurstLimiter;
  readonly #subscriptions = new DisposableStack();
  #pausedUntil: number | null;
  #checkTimer: Disposable | undefined;
  #publishedState = '';
  #updateTimer: Disposable | undefined;
  #quiet: { readonly minute: number; readonly lines: readonly string[]; readonly end: number | undefined } | undefined;
  readonly #handleEvent: PopupEventHandler;

  constructor(options: PopupsOptions, saved: SavedPopupState) {
    this.#options = options;
    this.#wallClock = createWallClock(options.zone);
    this.#pausedUntil = saved.pausedUntil;
    this.#heldTally = Tally.from(saved.held);
    this.#topics = new PushTopics(saved.topics);
    this.#stateFile = new PopupStateFile(options.file, options.log, () => ({
      pausedUntil: this.#pausedUntil,
      held: this.#heldTally.toSaved(),
      topics: this.#topics.toSaved(),
      urgent: [...this.#urgent.briefs],
    }));
    this.#handleEvent = createPopupEventHandler({ log: options.log, ...options.actions }, (ids) =>
      this.#handleSeen(ids),
    );
    const { clock, bus, settings } = options;
    const minutes = (): number => (settings().popups ? settings().repeatUrgentMinutes : 0);
    this.#urgent = new Reminders(saved.urgent, clock, minutes, (briefs) => {
      // Messages with their own interval are not affected by the setting, so it is checked here.
      if (settings().popups)
        this.#show(() => buildUrgentPopup(briefs, this.#sound), briefs, briefs.length === 1 ? briefs[0] : undefined);
    });
    this.#sourceLimiter = new BurstLimiter(clock, maxPerSource, (source, suppressed) => {
      if (this.#totalLimiter.allow('', suppressed.rows, suppressed.more))
        this.#show(() => buildBurstPopup(source, suppressed, this.#sound), suppressed.rows);
    });
    this.#totalLimiter = new BurstLimiter(clock, maxTotal, (_, suppressed) =>
      this.#show(() => buildBurstPopup('', suppressed, this.#sound), suppressed.rows),
    );
    this.#subscriptions.use(bus.subscribe(inboxAdded, (item) => this.#handleAdded(item)));
    // Uses seen events, because changes of very many rows list no ids.
    this.#subscriptions.use(bus.subscribe(inboxSeen, ({ ids }) => this.#handleSeen(ids)));
    this.#subscriptions.use(
      bus.subscribe(pushPopupRules, (rules) => {
        this.#topics.follow(rules);
        this.#stateFile.save();
        this.#check();
      }),
    );
    this.refresh();
  }

  state(): PopupsState {
    const { enabled, pausedUntil, quietEnd } = this.#now();
    const { name } = this.#options.notifier;
    // Permanent quiet hours have no end, so a time in the far future is returned.
    const quiet = quietEnd === Infinity ? this.#options.clock.now() + maxPauseMs : (quietEnd ?? null);
    return { enabled, driver: name, pausedUntil, quietUntil: quiet, held: this.#heldTally.size + this.#topics.size };
  }

  pause(until: number | null): PopupsState {
    const now = this.#options.clock.now();
    this.#pausedUntil = until === null || until <= now ? null : Math.min(until, now + maxPauseMs);
    this.#stateFile.save();
    this.#check();
    return this.state();
  }

  refresh(): void {
    this.#urgent.restart();
    this.#check();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscriptions.dispose();
    this.#checkTimer?.[Symbol.dispose]();
    this.#updateTimer?.[Symbol.dispose]();
    this.#urgent.stop();
    this.#sourceLimiter.clear();
    this.#totalLimiter.clear();
    await this.#stateFile.flush();
  }

  get #sound(): boolean {
    return this.#options.settings().popupSound;
  }

  #now() {
    const { popups: enabled, quietHours } = this.#options.settings();
    const state = this.#options.clock.now();
    const pausedUntil = this.#pausedUntil !== null && this.#pausedUntil > state ? this.#pausedUntil : null;
    if (this.#topics.isFollowing) {
      // Topics may have different quiet hours, which are evaluated per message.
      return { enabled, quiet: pausedUntil !== null, pausedUntil, quietEnd: this.#topics.quietUntil(state) };
    }
    const quietEnd = this.#quietEnd(quietHours, state);
    return { enabled, quiet: pausedUntil !== null || quietEnd !== undefined, pausedUntil, quietEnd };
  }

  /** Computed once a minute, because it is used for each message of a burst. */
  #quietEnd(lines: readonly string[], currentTime: number): number | undefined {
    const minute = Math.floor(currentTime / 60_000);
    if (this.#quiet?.minute !== minute || this.#quiet.lines !== lines) {
      this.#quiet = { minute, lines, end: getQuietEnd(parseQuietSpans(lines), this.#wallClock, currentTime) };
    }
    return this.#quiet.end;
  }

  #handleAdded(item: InboxItem): void {
    if (item.priority <= 2 || this.#options.notifier.name === 'none') return;
    const { topic, priority } = item;
    const outcome = this.#topics.outcome(item, this.#options.clock.now());
    const handling = getHandling(item, this.#now(), outcome);
    if (handling === 'inbox-only') return;
    const row: CountedMessage = { id: item.id, source: item.source.slice(0, 200), priority };
    if (handling !== 'show') {
      this.#hold(item.source === 'push' && topic !== '' ? { ...row, source: topic } : row, handling, topic);
      return;
    }
    const isAllowed = this.#sourceLimiter.allow(row.source, [row]) && this.#totalLimiter.allow('', [row]);
    if (item.priority < 5 && !isAllowed) return;
    const brief = this.#options.actions.inHostLanguage(() => toBrief(item, this.#topics.repeatMinutes(topic)));
    if (item.priority >= 5 && brief.repeatMinutes !== 0) {
      this.#urgent.add(brief);
      this.#stateFile.save();
    }
    if (isAllowed) this.#show(() => buildMessagePopup(brief, this.#sound), [row], brief);
  }

  #hold(row: CountedMessage, handling: 'hold' | 'hold-with-topic', topic: string): void {
    if (handling === 'hold') this.#heldTally.add([row]);
    else this.#topics.hold(topic, row);
    this.#stateFile.save();
    this.#updateTimer ??= this.#options.clock.after(updateDelayMs, () => this.#publishState());
    if (this.#checkTimer === undefined) this.#scheduleCheck();
  }

  /** Handles rows that were read, marked as done or deleted, on this computer or elsewhere. */
  #handleSeen(ids: readonly number[]): void {
    this.#sourceLimiter.remove(ids);
    this.#totalLimiter.remove(ids);
    const hadUrgent = this.#urgent.remove(ids);
    const hadHeld = this.#topics.remove(ids);
    if (!this.#heldTally.remove(ids) && !hadUrgent && !hadHeld) return;
    this.#stateFile.save();
    this.#check();
  }

  /** Summarizes held messages when quiet hours have ended, publishes changes and schedules the next check. */
  #check(): void {
    this.#checkTimer?.[Symbol.dispose]();
    this.#checkTimer = undefined;
    const { enabled, quiet, pausedUntil } = this.#now();
    // Quiet hours of the computer may still apply; then the messages stay held.
    const ended = this.#topics.takeEnded(this.#options.clock.now());
    this.#heldTally.add(ended.rows, ended.more);
    if (ended.size > 0) this.#stateFile.save();
    if (this.#heldTally.size > 0 && (!quiet || !enabled)) {
      const heldMessages = this.#heldTally.take();
      this.#stateFile.save();
      if (enabled) this.#show(() => buildHeldPopup(heldMessages, this.#sound), heldMessages.rows);
    }
    if (pausedUntil === null && this.#pausedUntil !== null) {
      this.#pausedUntil = null;
      this.#stateFile.save();
    }
    this.#publishState();
    this.#scheduleCheck();
  }

  #scheduleCheck(): void {
    const { pausedUntil, quietEnd } = this.#now();
    const mayBeQuiet = this.#topics.isFollowing || this.#options.settings().quietHours.length > 0;
    if (pausedUntil === null && !mayBeQuiet && this.#topics.size === 0) return;
    const now = this.#options.clock.now();
    const next = Math.min(pausedUntil ?? Infinity, quietEnd ?? Infinity) - now;
    // Quiet hours of a topic end on a full minute.
    const delayMs = Math.min(Math.max(next, 0), checkIntervalMs - (now % checkIntervalMs));
    this.#checkTimer = this.#options.clock.after(delayMs, () => this.#check());
  }

  #publishState(): void {
    this.#updateTimer?.[Symbol.dispose]();
    this.#updateTimer = undefined;
    const state = this.state();
    const text = JSON.stringify(state);
    if (text !== this.#publishedState) this.#options.bus.publish(popupsChanged, state);
    this.#publishedState = text;
  }

  /** Shows a popup for these rows; `brief` is the displayed message. */
  #show(build: () => Popup | undefined, rows: readonly CountedMessage[], brief?: Brief): void {
    const ids = rows.map(({ id }) => id);
    const popup = this.#options.actions.inHostLanguage(build);
    if (popup === undefined) return;
    this.#options.notifier.show(popup, (event) => this.#handleEvent(event, ids, brief));
  }
}
