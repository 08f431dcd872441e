// A Worker that calls a function of a module, once.
addEventListener('message', async ({ data: { module, name, args } }) => {
  try {
    postMessage({ value: await (await import(module))[name](args) });
  } catch (e) {
    postMessage({ error: String(e?.stack ?? e) });
  }
});
