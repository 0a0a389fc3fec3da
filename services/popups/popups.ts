import type { Bus } from '../contracts/bus.ts';
import { inboxAdded, inboxSeen, type InboxItem } from '../contracts/inbox/api.ts';
import { pushPopupRules } from '../contracts/push/rules.ts';
import { popupsChanged, type PopupsState } from '../contracts/popups/popups.ts';
import type { Clock, Log } from '../contracts/service.ts';
import { answers, type Answer } from './popup-events.ts';
import { Bursts } from './burst-limiter.ts';
import { PopupMemory, type Remembered } from './popup-state-file.ts';
import type { Notifier, Popup } from '../contracts/popups/desktop.ts';
import { PushTopics } from './push-topics.ts';
import { quietSpans, quietUntil, wallClock, type WallClock } from '../contracts/quiet-hours.ts';
import { Reminders } from './reminders.ts';
import type { PopupSettings } from './settings.ts';
import { briefOf, burstPopup, heldPopup, messagePopup, urgentPopup, handlingOf, type Brief } from './rules.ts';
import { Tally, type Counted } from './tally.ts';

/** Popups one source, and all sources together, may show in ten seconds before they collapse into one. */
const perSource = 3;
const together = 9;
const longestPause = 366 * 24 * 3_600_000;
/** The clock may be set, the zone changed and the machine asleep: what time decides is looked at this often. */
const glance = 60_000;
/** ms in which further held messages are told to the pages as one change. */
const telling = 250;

export interface PopupsOptions {
  /** Where what is held outlives a restart. */
  readonly file: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly log: Log;
  readonly notifier: Pick<Notifier, 'name' | 'show'>;
  /** Read at each use. */
  readonly settings: () => PopupSettings;
  /** Time zone of the quiet hours; default that of the machine. */
  readonly zone?: string;
  /** Opens a place of the app's own pages, such as `/inbox/12`. */
  readonly openPage: (path: string) => void;
  /** Opens an http or https address. */
  readonly openLink: (url: string) => void;
  readonly markRead: (ids: readonly number[]) => Promise<void>;
}

export interface Popups extends AsyncDisposable {
  state(): PopupsState;
  /** `until` in ms since the epoch; null, or a moment that is over, ends the pause and sums up what was held. */
  pause(until: number | null): PopupsState;
  /** The settings may be others now. */
  renew(): void;
}

/** Turns what reaches the inbox into native popups, by the person's rules. */
export async function openPopups(options: PopupsOptions): Promise<Popups> {
  return new InboxPopups(options, await PopupMemory.read(options.file, options.log));
}

class InboxPopups implements Popups {
  readonly #options: PopupsOptions;
  readonly #memory: PopupMemory;
  readonly #wall: WallClock;
  readonly #held: Tally;
  readonly #topics: PushTopics;
  readonly #urgent: Reminders;
  readonly #sources: Bursts;
  readonly #all: Bursts;
  readonly #subscriptions = new DisposableStack();
  #pausedUntil: number | null;
  #glance: Disposable | undefined;
  #told = '';
  #telling: Disposable | undefined;
  #quiet: { readonly minute: number; readonly lines: readonly string[]; readonly end: number | undefined } | undefined;
  readonly #heard: Answer;

  constructor(options: PopupsOptions, remembered: Remembered) {
    this.#options = options;
    this.#wall = wallClock(options.zone);
    this.#pausedUntil = remembered.pausedUntil;
    this.#held = Tally.from(remembered.held);
    this.#topics = new PushTopics(remembered.topics);
    this.#memory = new PopupMemory(options.file, options.log, () => ({
      pausedUntil: this.#pausedUntil,
      held: this.#held.saved(),
      topics: this.#topics.saved(),
      urgent: [...this.#urgent.briefs],
    }));
    this.#heard = answers(options, (ids) => this.#seen(ids));
    const { clock, bus, settings } = options;
    const minutes = (): number => (settings().popups ? settings().repeatUrgentMinutes : 0);
    this.#urgent = new Reminders(remembered.urgent, clock, minutes, (briefs) => {
      // With minutes of its own a message does not hear that popups were switched off.
      const popup = settings().popups ? urgentPopup(briefs, this.#sound) : undefined;
      if (popup !== undefined) this.#show(popup, briefs, briefs.length === 1 ? briefs[0] : undefined);
    });
    this.#sources = new Bursts(clock, perSource, (source, late) => {
      if (this.#all.pass('', late.rows, late.more)) this.#show(burstPopup(source, late, this.#sound), late.rows);
    });
    this.#all = new Bursts(clock, together, (_, late) => this.#show(burstPopup('', late, this.#sound), late.rows));
    this.#subscriptions.use(bus.subscribe(inboxAdded, (item) => this.#added(item)));
    // Not the changes: of very many rows at once these name none.
    this.#subscriptions.use(bus.subscribe(inboxSeen, ({ ids }) => this.#seen(ids)));
    this.#subscriptions.use(
      bus.subscribe(pushPopupRules, (rules) => {
        this.#topics.follow(rules);
        this.#memory.save();
        this.#look();
      }),
    );
    this.renew();
  }

  state(): PopupsState {
    const { enabled, pausedUntil, quietEnd } = this.#now();
    const { name } = this.#options.notifier;
    // A week of nothing but quiet has no end to name; the far future stands for it.
    const quiet = quietEnd === Infinity ? this.#options.clock.now() + longestPause : (quietEnd ?? null);
    return { enabled, driver: name, pausedUntil, quietUntil: quiet, held: this.#held.size + this.#topics.size };
  }

  pause(until: number | null): PopupsState {
    const now = this.#options.clock.now();
    this.#pausedUntil = until === null || until <= now ? null : Math.min(until, now + longestPause);
    this.#memory.save();
    this.#look();
    return this.state();
  }

  renew(): void {
    this.#urgent.renew();
    this.#look();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscriptions.dispose();
    this.#glance?.[Symbol.dispose]();
    this.#telling?.[Symbol.dispose]();
    this.#urgent.stop();
    this.#sources.clear();
    this.#all.clear();
    await this.#memory.flush();
  }

  get #sound(): boolean {
    return this.#options.settings().popupSound;
  }

  #now() {
    const { popups: enabled, quietHours } = this.#options.settings();
    const now = this.#options.clock.now();
    const pausedUntil = this.#pausedUntil !== null && this.#pausedUntil > now ? this.#pausedUntil : null;
    if (this.#topics.isFollowing) {
      // A topic may have other hours than all topics have: what waits for them is asked of each message.
      return { enabled, quiet: pausedUntil !== null, pausedUntil, quietEnd: this.#topics.quietUntil(now) };
    }
    const quietEnd = this.#quietEnd(quietHours, now);
    return { enabled, quiet: pausedUntil !== null || quietEnd !== undefined, pausedUntil, quietEnd };
  }

  /** Worked out once a minute: a storm of messages asks each time. */
  #quietEnd(lines: readonly string[], now: number): number | undefined {
    const minute = Math.floor(now / 60_000);
    if (this.#quiet?.minute !== minute || this.#quiet.lines !== lines) {
      this.#quiet = { minute, lines, end: quietUntil(quietSpans(lines), this.#wall, now) };
    }
    return this.#quiet.end;
  }

  #added(item: InboxItem): void {
    if (item.priority <= 2 || this.#options.notifier.name === 'none') return;
    const { topic, priority } = item;
    const outcome = this.#topics.outcome(item, this.#options.clock.now());
    const handling = handlingOf(item, this.#now(), outcome);
    if (handling === 'inbox only') return;
    const row: Counted = { id: item.id, source: item.source.slice(0, 200), priority };
    if (handling !== 'show') {
      this.#hold(item.source === 'push' && topic !== '' ? { ...row, source: topic } : row, handling, topic);
      return;
    }
    const passes = this.#sources.pass(row.source, [row]) && this.#all.pass('', [row]);
    if (item.priority < 5 && !passes) return;
    const brief = briefOf(item, this.#topics.repeatMinutes(topic));
    if (item.priority >= 5 && brief.repeatMinutes !== 0) {
      this.#urgent.keep(brief);
      this.#memory.save();
    }
    if (passes) this.#show(messagePopup(brief, this.#sound), [row], brief);
  }

  #hold(row: Counted, handling: 'hold' | 'hold with topic', topic: string): void {
    if (handling === 'hold') this.#held.add([row]);
    else this.#topics.hold(topic, row);
    this.#memory.save();
    this.#telling ??= this.#options.clock.after(telling, () => this.#tell());
    if (this.#glance === undefined) this.#wait();
  }

  /** Rows were read, put away or removed, here or in any window. */
  #seen(ids: readonly number[]): void {
    this.#sources.forget(ids);
    this.#all.forget(ids);
    const urgent = this.#urgent.remove(ids);
    const waited = this.#topics.remove(ids);
    if (!this.#held.remove(ids) && !urgent && !waited) return;
    this.#memory.save();
    this.#look();
  }

  /** Sums up what was held once nothing holds it, tells what changed, and sets the alarm for the next look. */
  #look(): void {
    this.#glance?.[Symbol.dispose]();
    this.#glance = undefined;
    const { enabled, quiet, pausedUntil } = this.#now();
    // It may be quiet on the machine too: then it waits on with the rest.
    const ended = this.#topics.takeEnded(this.#options.clock.now());
    this.#held.add(ended.rows, ended.more);
    if (ended.size > 0) this.#memory.save();
    if (this.#held.size > 0 && (!quiet || !enabled)) {
      const held = this.#held.take();
      this.#memory.save();
      if (enabled) this.#show(heldPopup(held, this.#sound), held.rows);
    }
    if (pausedUntil === null && this.#pausedUntil !== null) {
      this.#pausedUntil = null;
      this.#memory.save();
    }
    this.#tell();
    this.#wait();
  }

  #wait(): void {
    const { pausedUntil, quietEnd } = this.#now();
    const mayBeQuiet = this.#topics.isFollowing || this.#options.settings().quietHours.length > 0;
    if (pausedUntil === null && !mayBeQuiet && this.#topics.size === 0) return;
    const now = this.#options.clock.now();
    const next = Math.min(pausedUntil ?? Infinity, quietEnd ?? Infinity) - now;
    // The quiet of a topic ends on a full minute.
    const look = Math.min(Math.max(next, 0), glance - (now % glance));
    this.#glance = this.#options.clock.after(look, () => this.#look());
  }

  #tell(): void {
    this.#telling?.[Symbol.dispose]();
    this.#telling = undefined;
    const state = this.state();
    const text = JSON.stringify(state);
    if (text !== this.#told) this.#options.bus.publish(popupsChanged, state);
    this.#told = text;
  }

  /** `rows`: the messages it stands for; `brief`: the one it shows. */
  #show(popup: Popup, rows: readonly Counted[], brief?: Brief): void {
    const ids = rows.map(({ id }) => id);
    this.#options.notifier.show(popup, (event) => this.#heard(event, ids, brief));
  }
}
