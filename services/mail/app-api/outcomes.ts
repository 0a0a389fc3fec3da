import type { z } from 'zod';
import type { mailApi } from '../../contracts/mail/api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Activity } from '../../kit/activity.ts';
import { CachedQuery } from '../../kit/cached-query.ts';
import { getLastDays, type LocalDay } from '../../kit/local-days.ts';
import type { Settings } from '../settings.ts';
import { countMails, countOutcomes } from '../store/outcomes.ts';
import { findUnfinished } from './views.ts';

/** Maximum number of days of outcomes, if the spool keeps as many. */
const maxDays = 30;

/** Returns the cached outcomes of mails per day, reloaded after changes. */
export function createMailOutcomes(
  { clock, jobs, reads }: Context,
  settings: Pick<Settings, 'spoolDays'>,
  activity: Activity,
): CachedQuery<z.infer<typeof mailApi.outcomes.reply>> {
  const countDays = (): number => Math.min(maxDays, settings.spoolDays);
  const getDays = (): readonly LocalDay[] => getLastDays(clock.now(), countDays());
  return new CachedQuery({
    clock,
    onRefreshDue: activity.touch,
    key: () =>
      getDays()
        .map(({ day }) => day)
        .join(),
    async read() {
      const days = getDays();
      // Mails received during the read would count as delivered.
      const until = clock.now();
      const unfinished = await findUnfinished(jobs);
      const earlierDays = getLastDays(until, 2 * days.length).slice(0, days.length);
      const isStored = settings.spoolDays >= 2 * days.length;
      return {
        days: days.map(({ day }) => day),
        ...(await countOutcomes(reads, { days, until, unfinished })),
        previous: isStored ? await countMails(reads, earlierDays, days[0]?.from ?? until) : null,
      };
    },
  });
}
