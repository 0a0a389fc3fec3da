import * as m from '#messages/control-problems';
import { z } from 'zod';

/** Account name. Accepts the names that the peers accept: letters, digits and `-_.+@`. */
export const AccountName = z.string().regex(/^[-_.+@a-zA-Z0-9]{1,64}$/, { error: m.accountNameInvalid });
