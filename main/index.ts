import { run } from './shell/run.ts';

// Electron starts here. Packed, the arguments follow the program; else the app's folder stands between them.
await run(process.argv.slice('defaultApp' in process ? 2 : 1));
