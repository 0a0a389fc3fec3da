import { z } from 'zod';

// Must be imported before any schema is built: zod probes `new Function` otherwise, which the content security policy
// reports as a violation.
z.config({ jitless: true });
