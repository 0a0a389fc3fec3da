import type { Clock } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import { looksAtRelease } from '../domain/pipeline/release-filter.ts';
import { wantedOf, type Wanted } from '../domain/pipeline/title-request.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { DigitalReleases } from './digital-releases.ts';
import { notReached, type Recommended, type SeaDex } from './seadex.ts';
import type { Titles } from './titles.ts';

interface LookupOptions {
  readonly clock: Clock;
  readonly titles: Titles;
  readonly digital: DigitalReleases;
  readonly seadex: SeaDex;
  /** Deadline, measured from the start. */
  readonly deadlineMs: number;
}

/** Facts about a title from metadata services. */
export interface Looked {
  readonly wanted: Wanted;
  readonly recommended: Recommended;
}

/**
 * Starts the requests to metadata services in parallel to the addons. The returned function waits for them until the
 * deadline and omits the facts that have not arrived.
 */
export function lookUp(
  { type, id }: ResourceRequest,
  config: AddonConfig,
  options: LookupOptions,
): () => Promise<Looked> {
  const { clock, titles, digital, seadex, deadlineMs } = options;
  const until = clock.now() + deadlineMs;
  const bare: Wanted = { ...wantedOf(type, id), now: clock.now() };
  const title = titles.complete(bare, config);
  const dates =
    type === 'movie' && looksAtRelease(config, bare) ? digital.find(id, config) : Promise.resolve(undefined);
  const recommended = seadex.find(id, config);
  return async () => {
    const late = Promise.withResolvers<undefined>();
    using _timer = clock.after(Math.max(0, until - clock.now()), () => late.resolve(undefined));
    const inTime = <T>(answer: Promise<T>): Promise<T | undefined> => Promise.race([answer, late.promise]);
    const [wanted, released, marks] = await Promise.all([inTime(title), inTime(dates), inTime(recommended)]);
    return {
      wanted: { ...(wanted ?? bare), ...(released === undefined ? {} : { digital: released }) },
      recommended: marks ?? notReached,
    };
  };
}
