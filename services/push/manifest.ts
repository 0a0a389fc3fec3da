import { defineManifest } from '../contracts/service.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** The push server: publish to a topic, and everyone who listens to it gets the message. Answers like ntfy. */
export const manifest = defineManifest({
  id: 'push',
  title: 'Push',
  summary: 'Sends messages to phones, browsers and scripts that listen to a topic. Works with ntfy clients.',
  port: 2586,
  protocol: 'http',
  crossOrigin: 'credentialed',
  settings: Settings,
  environment,
  migrations,
});
