import { hostRights, type Rights } from '../contracts/route-access.ts';

/** One live event, ready to be sent again. */
export interface LiveFrame {
  /** Grows by one with each event since the host was started. */
  readonly number: number;
  readonly text: string;
  /** What somebody gets of it; undefined: nothing. It is asked anew each time, since grants come and go. */
  for(rights: Rights): string | undefined;
}

export interface RingLimits {
  readonly frames: number;
  /** Characters of all frames together. */
  readonly characters: number;
}

/**
 * The newest events, kept so that a page that lost its connection gets what it missed. Ids are `<boot>-<number>`: those
 * of an earlier start of the host are never mistaken for this one's.
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

  /** Keeps an event; `render` makes its text out of the id it gets, `part` what of it somebody may see who may not see all. */
  add(
    render: (id: string) => string,
    part: (id: string, rights: Rights, whole: string) => string | undefined = (_id, _rights, whole) => whole,
  ): LiveFrame {
    this.#last += 1;
    const id = this.#id(this.#last);
    const text = render(id);
    const frame = {
      number: this.#last,
      text,
      for: (rights: Rights) => (rights.all ? text : part(id, rights, text)),
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

  /** What somebody gets of the events after `id`, or undefined when some of them are not known any more. */
  after(id: string, rights: Rights = hostRights): readonly string[] | undefined {
    const separator = id.lastIndexOf('-');
    const digits = id.slice(separator + 1);
    if (separator < 0 || id.slice(0, separator) !== this.#boot || !/^\d{1,15}$/.test(digits)) return undefined;
    const seen = Number(digits);
    const oldest = this.#last - this.#frames.length;
    if (seen < oldest || seen > this.#last) return undefined;
    return this.#frames.slice(seen - oldest).flatMap((frame) => frame.for(rights) ?? []);
  }

  #id(number: number): string {
    return `${this.#boot}-${String(number)}`;
  }
}
