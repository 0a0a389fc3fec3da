import { run } from './shell/run.ts';

// Electron starts here, and becomes ready only once this module has been evaluated: awaiting the app would wait for ever.
// Packed, the arguments follow the program; else the app's folder stands between them.
void run(process.argv.slice('defaultApp' in process ? 2 : 1));
