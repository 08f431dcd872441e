"""A server of FastAPI, Pillow and torchvision, for uvicorn: an image in, the tensor of
torchvision's ImageNet transforms out, as bytes. One thread computes in each worker: the
cores are shared by processes, and a thread pool would only add switches."""
import io

import torch
from fastapi import FastAPI, HTTPException, Request, Response
from PIL import Image
from torchvision import transforms as T

torch.set_num_threads(1)
torch.set_grad_enabled(False)
TRANSFORM = T.Compose([T.Resize(256), T.CenterCrop(224), T.ToTensor(), T.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])

app = FastAPI()


@app.post("/infer")
async def infer(request: Request):
    try:
        image = Image.open(io.BytesIO(await request.body())).convert("RGB")
    except Exception as e:
        raise HTTPException(400, str(e)) from None
    return Response(TRANSFORM(image).numpy().tobytes(), media_type="application/octet-stream")
