import { run } from './shell/run.ts';

// Electron becomes ready only after this module has been evaluated, so awaiting the app would deadlock. In a packaged
// app the arguments follow the program; otherwise the app's folder is between them.
void run(process.argv.slice('defaultApp' in process ? 2 : 1));
