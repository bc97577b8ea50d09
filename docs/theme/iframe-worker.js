// Search in a site that is read from disk. Browsers start no worker from a file: address, so a
// hidden frame runs its script instead. A site that a server sends keeps real workers.

class FrameWorker extends EventTarget {
  constructor(url) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const inside = this.frame.contentWindow;
    inside.document.open();
    inside.document.write("<!doctype html><body></body>");
    inside.document.close();
    inside.postMessage = (data) => this.receive(structuredClone(data));
    inside.importScripts = (...urls) => inOrder(inside.document, urls);
    this.ready = inOrder(inside.document, [url]);
  }

  postMessage(data) {
    const inside = this.frame.contentWindow;
    const copy = structuredClone(data);
    this.ready.then(() => inside.dispatchEvent(new MessageEvent("message", { data: copy })));
  }

  receive(data) {
    const event = new MessageEvent("message", { data });
    setTimeout(() => {
      this.dispatchEvent(event);
      this.onmessage?.(event);
    });
  }

  terminate() {
    this.frame.remove();
  }
}

// Load scripts one after the other.
function inOrder(document, urls) {
  return urls.reduce((before, url) => before.then(() => load(document, url)), Promise.resolve());
}

function load(document, url) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.onload = resolve;
    script.onerror = () => reject(new Error("a script of the site is missing"));
    script.src = url;
    document.body.append(script);
  });
}

if (location.protocol === "file:") window.Worker = FrameWorker;
