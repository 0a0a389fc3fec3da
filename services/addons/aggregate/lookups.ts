import type { Clock } from '../../contracts/service.ts';
import type { AddonConfig } from '../domain/config.ts';
import { usesReleaseDates } from '../domain/pipeline/release-filter.ts';
import { parseTitleRequest, type TitleRequest } from '../domain/title-request.ts';
import type { ResourceRequest } from '../domain/resource-path.ts';
import type { DigitalReleases } from './digital-releases.ts';
import { unreachable, type Recommendations, type SeaDex } from './seadex.ts';
import type { TitleLookup } from './titles.ts';

interface LookupOptions {
  readonly clock: Clock;
  readonly titles: TitleLookup;
  readonly digital: DigitalReleases;
  readonly seadex: SeaDex;
  /** Deadline, measured from the start. */
  readonly deadlineMs: number;
}

/** Facts about a title from metadata services. */
export interface LookupResults {
  readonly titleRequest: TitleRequest;
  readonly recommendations: Recommendations;
}

/**
 * Starts the requests to metadata services in parallel to the addons. The returned function waits for them until the
 * deadline and omits the facts that have not arrived.
 */
export function startLookups(
  { type, id }: ResourceRequest,
  config: AddonConfig,
  options: LookupOptions,
): () => Promise<LookupResults> {
  const { clock, titles, digital, seadex, deadlineMs } = options;
  const deadlineAt = clock.now() + deadlineMs;
  const baseRequest: TitleRequest = { ...parseTitleRequest(type, id), now: clock.now() };
  const titleLookup = titles.addMetadata(baseRequest, config);
  const releaseLookup =
    type === 'movie' && usesReleaseDates(config, baseRequest)
      ? digital.findRelease(id, config)
      : Promise.resolve(undefined);
  const recommendationLookup = seadex.findRecommendations(id, config);
  return async () => {
    const deadline = Promise.withResolvers<undefined>();
    using _timer = clock.after(Math.max(0, deadlineAt - clock.now()), () => deadline.resolve(undefined));
    const beforeDeadline = <T>(lookup: Promise<T>): Promise<T | undefined> => Promise.race([lookup, deadline.promise]);
    const [completed, digitalRelease, recommendedReleases] = await Promise.all([
      beforeDeadline(titleLookup),
      beforeDeadline(releaseLookup),
      beforeDeadline(recommendationLookup),
    ]);
    return {
      titleRequest: {
        ...(completed ?? baseRequest),
        ...(digitalRelease === undefined ? {} : { digital: digitalRelease }),
      },
      recommendations: recommendedReleases ?? unreachable,
    };
  };
}
