// The service worker of the pages: notifications while no page is open, and the pages without a network.
importScripts('/push-worker.js', '/offline-shell.js');
