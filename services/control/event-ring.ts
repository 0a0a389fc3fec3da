import { hostRights, type Rights } from '../contracts/route-access.ts';

/** Live event that can be replayed. */
export interface LiveFrame {
  /** Increases by one with each event since the host started. */
  readonly number: number;
  readonly text: string;
  /**
   * Returns the part of the event that the rights permit, in the current language; undefined for nothing. Evaluated on
   * each replay, because grants change.
   */
  getText(rights: Rights): string | undefined;
}

export interface RingLimits {
  readonly frames: number;
  /** Maximum number of characters of all frames. */
  readonly characters: number;
}

/**
 * Ring buffer of the newest events, replayed to pages after a lost connection. Ids are `<boot>-<number>`, so ids of an
 * earlier start of the host are never mistaken for current ones.
 */
export class EventRing {
  readonly #boot: string;
  readonly #limits: RingLimits;
  readonly #frames: LiveFrame[] = [];
  #characters = 0;
  #last = 0;

  constructor(boot: string, limits: RingLimits) {
    this.#boot = boot;
    this.#limits = limits;
  }

  /** Id of the newest event, also before the first one. */
  get lastId(): string {
    return this.#id(this.#last);
  }

  /**
   * Adds an event. `render` builds its text with the assigned id; `getPart` returns the part for a caller.
   */
  add(
    render: (id: string) => string,
    getPart: (id: string, rights: Rights, fullText: string) => string | undefined = (_id, _rights, whole) => whole,
  ): LiveFrame {
    this.#last += 1;
    const id = this.#id(this.#last);
    const text = render(id);
    const frame = {
      number: this.#last,
      text,
      getText: (rights: Rights) => getPart(id, rights, text),
    };
    this.#frames.push(frame);
    this.#characters += frame.text.length;
    while (this.#frames.length > this.#limits.frames || this.#characters > this.#limits.characters) {
      const dropped = this.#frames.shift();
      if (!dropped) break;
      this.#characters -= dropped.text.length;
    }
    return frame;
  }

  /** Discards all events, so that pages with an earlier id reload their data. */
  clear(): void {
    this.#frames.length = 0;
    this.#characters = 0;
    this.#last += 1;
  }

  /** Returns the events after `id` that the rights permit, or undefined when some are no longer stored. */
  after(id: string, rights: Rights = hostRights): readonly string[] | undefined {
    const separator = id.lastIndexOf('-');
    const digits = id.slice(separator + 1);
    if (separator < 0 || id.slice(0, separator) !== this.#boot || !/^\d{1,15}$/.test(digits)) return undefined;
    const lastSeen = Number(digits);
    const oldest = this.#last - this.#frames.length;
    if (lastSeen < oldest || lastSeen > this.#last) return undefined;
    return this.#frames.slice(lastSeen - oldest).flatMap((frame) => frame.getText(rights) ?? []);
  }

  #id(number: number): string {
    return `${this.#boot}-${String(number)}`;
  }
}
