import { z } from 'zod';

// Imported before anything that builds a schema: zod probes `new Function` otherwise, which the content security policy
// reports as a violation.
z.config({ jitless: true });
