// Runs in the sandbox before each page, where neither modules nor types are: the names of services/contracts/control/desktop.ts.
const { contextBridge, ipcRenderer } = require('electron');

const calls = [
  'info',
  'quit',
  'hide',
  'session',
  'pickFolder',
  'showDownload',
  'watchesClipboard',
  'watchClipboard',
  'startsAtLogin',
  'startAtLogin',
  'whenClosed',
  'setWhenClosed',
  'update',
  'checkForUpdate',
];
const bridge = Object.fromEntries(
  calls.map((name) => [name, (argument) => ipcRenderer.invoke(`homeport:${name}`, argument)]),
);
contextBridge.exposeInMainWorld('bridge', bridge);
