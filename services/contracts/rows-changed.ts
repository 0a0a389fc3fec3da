import { z } from 'zod';
import { defineTopic } from './bus.ts';

/** Published when rows changed that the other hosts hold in memory. `rows`: `<service>.<rows>`, as in `push.rules`. */
export const rowsChanged = defineTopic('host.rows-changed', z.object({ rows: z.string().max(100) }), { shared: true });
