import type { z } from 'zod';
import type { mailApi } from '../../contracts/mail/api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Activity } from '../../kit/activity.ts';
import { CachedQuery } from '../../kit/cached-query.ts';
import { getLastDays, type LocalDay } from '../../kit/local-days.ts';
import type { Settings } from '../settings.ts';
import { outcomesOf } from '../store/outcomes.ts';
import { openMails } from './views.ts';

/** Days that the outcomes look back, where the spool keeps as many. */
const mostDays = 30;

/** What became of the mails of each day, read anew when something became of one. */
export function mailOutcomes(
  { clock, jobs, reads }: Context,
  settings: Pick<Settings, 'spoolDays'>,
  activity: Activity,
): CachedQuery<z.infer<typeof mailApi.outcomes.reply>> {
  const shown = (): readonly LocalDay[] => getLastDays(clock.now(), Math.min(mostDays, settings.spoolDays));
  return new CachedQuery({
    ...{ clock, onRefreshDue: activity.touch },
    key: () =>
      shown()
        .map(({ day }) => day)
        .join(),
    async read() {
      const days = shown();
      // A mail that comes while this is read would be taken for one that was passed on.
      const until = clock.now();
      const open = await openMails(jobs);
      return { days: days.map(({ day }) => day), ...(await outcomesOf(reads, { days, until, open })) };
    },
  });
}
