"""The cases of `make bench-ops`: what infer-prep and the others run. README.md describes the table.

A case has a name, the forms of infer-prep, and a call for each library that has the operation. A form is a name and a list of
(op, parameters that differ from the defaults). A call is a Python expression of a function of the image, evaluated once in
peers/ops.py, which states the names that it may use. Images are at least SIDE pixels high and wide.
"""

SIDE = 256


class Case:
    def __init__(self, name, forms, input="image", **calls):
        """input is image (uint8: HWC here and for OpenCV and MindSpore, CHW for torchvision) or tensor (float32 of 0 to 1, alike)."""
        self.name, self.input = name, input
        self.forms = forms if isinstance(forms, dict) else {"": forms}
        self.calls = calls


def op(name, **params):
    return [(name, params)]


def backends(name, backends, **params):
    """A form for each backend."""
    return {b: op(name, backend=b, **params) for b in backends.split()}


def both(torchvision="", pillow="", opencv="", mindspore=""):
    """The calls, with those of OpenCV for both of its versions."""
    calls = {"torchvision": torchvision, "pillow": pillow, "opencv": opencv, "opencv4": opencv, "mindspore": mindspore}
    return {library: call for library, call in calls.items() if call}


MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
START, END = [[0, 0], [199, 0], [199, 199], [0, 199]], [[20, 10], [180, 0], [199, 199], [0, 170]]
FLAT = {"start": sum(START, []), "end": sum(END, [])}


def warps(interpolation, pil, cv, tv, ms):
    """rotate, affine and perspective with one interpolation; the arguments are its names."""
    return [
        Case(f"rotate-{interpolation}", backends("rotate", "pillow torch opencv4", angle=30, interpolation=interpolation), **both(
            f"lambda x: F.rotate(x, 30, {tv})", f"lambda x: x.rotate(30, {pil})",
            f"lambda x: cv2.warpAffine(x, rotation(x, 30), x.shape[1::-1], flags={cv})", f"V.Rotate(30, {ms})")),
        Case(f"affine-{interpolation}", backends("affine", "pillow torch opencv4", angle=15, scale=1.1, shear_x=8, interpolation=interpolation), **both(
            f"lambda x: F.affine(x, 15, [0, 0], 1.1, [8, 0], {tv})", f"lambda x: x.transform(x.size, Image.Transform.AFFINE, inverse(x, 15, 1.1, 8), {pil})",
            f"lambda x: cv2.warpAffine(x, affine(x, 15, 1.1, 8), x.shape[1::-1], flags={cv})", f"V.Affine(15., [0., 0.], 1.1, [8., 0.], {ms})")),
        Case(f"perspective-{interpolation}", backends("perspective", "pillow torch opencv4", interpolation=interpolation, **FLAT), **both(
            f"lambda x: F.perspective(x, {START}, {END}, {tv})", f"lambda x: x.transform(x.size, Image.Transform.PERSPECTIVE, coefficients({START}, {END}), {pil})",
            f"lambda x: cv2.warpPerspective(x, homography({START}, {END}), x.shape[1::-1], flags={cv})", f"V.Perspective({START}, {END}, {ms})")),
    ]


def resize(interpolation, backend, pil, cv, tv, ms):
    return Case(f"resize-{interpolation}", backends("resize", backend, height=224, width=224, interpolation=interpolation), **both(
        f"lambda x: F.resize(x, [224, 224], {tv}, antialias=True)", f"lambda x: x.resize((224, 224), {pil})",
        f"lambda x: cv2.resize(x, (224, 224), interpolation={cv})", f"V.Resize((224, 224), {ms})"))


PIL, TV, MS = "Image.Resampling.", "Mode.", "Inter."
CASES = [
    Case("horizontal_flip", op("horizontal_flip"), **both(
        "F.horizontal_flip", "lambda x: x.transpose(Image.Transpose.FLIP_LEFT_RIGHT)", "lambda x: cv2.flip(x, 1)", "V.HorizontalFlip()")),
    Case("vertical_flip", op("vertical_flip"), **both(
        "F.vertical_flip", "lambda x: x.transpose(Image.Transpose.FLIP_TOP_BOTTOM)", "lambda x: cv2.flip(x, 0)", "V.VerticalFlip()")),
    # The result of torch's rot90 is a transposed view of a flipped image.
    Case("rotate90", op("rotate90", turns=1), **both(
        "lambda x: torch.rot90(x, 1, [1, 2]).contiguous()", "lambda x: x.transpose(Image.Transpose.ROTATE_90)", "lambda x: cv2.rotate(x, cv2.ROTATE_90_COUNTERCLOCKWISE)")),
    # A crop is a view of NumPy's and torch's arrays; the copy is the work.
    Case("crop", op("crop", top=16, left=24, height=200, width=220), **both(
        "lambda x: F.crop(x, 16, 24, 200, 220).contiguous()", "lambda x: x.crop((24, 16, 244, 216))", "lambda x: x[16:216, 24:244].copy()",
        "V.Crop((16, 24), (200, 220))")),
    Case("center_crop", {r: op("center_crop", height=224, width=224, crop_rounding=r) for r in ("half_even", "floor")}, **both(
        "lambda x: F.center_crop(x, [224, 224]).contiguous()", "lambda x: x.crop(centre(x, 224))", "lambda x: centre(x, 224).copy()", "V.CenterCrop(224)")),
    *[Case(f"{n}_crop", op(f"{n}_crop", height=200, width=200), **both(
        f"lambda x: torch.stack(F.{n}_crop(x, [200, 200]))", f"lambda x: {n}_crop(x, 200)", f"lambda x: np.stack({n}_crop(x, 200))"))
        for n in ("five", "ten")],
    resize("nearest", "pillow opencv torch", PIL + "NEAREST", "cv2.INTER_NEAREST", TV + "NEAREST", MS + "NEAREST"),
    resize("bilinear", "pillow opencv torch_uint8", PIL + "BILINEAR", "cv2.INTER_LINEAR", TV + "BILINEAR", MS + "BILINEAR"),
    resize("bicubic", "pillow opencv torch_uint8", PIL + "BICUBIC", "cv2.INTER_CUBIC", TV + "BICUBIC", MS + "BICUBIC"),
    Case("pad", op("pad", top=16, bottom=16, left=16, right=16), **both(
        "lambda x: F.pad(x, [16])", "lambda x: ImageOps.expand(x, 16)", "lambda x: cv2.copyMakeBorder(x, 16, 16, 16, 16, cv2.BORDER_CONSTANT)", "V.Pad(16)")),
    Case("pad-reflect", op("pad", top=16, bottom=16, left=16, right=16, mode="reflect"), **both(
        "lambda x: F.pad(x, [16], padding_mode='reflect')", "", "lambda x: cv2.copyMakeBorder(x, 16, 16, 16, 16, cv2.BORDER_REFLECT_101)",
        "V.Pad(16, padding_mode=V.Border.REFLECT)")),
    *warps("nearest", PIL + "NEAREST", "cv2.INTER_NEAREST", TV + "NEAREST", MS + "NEAREST"),
    *warps("bilinear", PIL + "BILINEAR", "cv2.INTER_LINEAR", TV + "BILINEAR", MS + "BILINEAR"),
    Case("adjust_brightness", backends("adjust_brightness", "pillow opencv torch", factor=1.3), **both(
        "lambda x: F.adjust_brightness(x, 1.3)", "lambda x: ImageEnhance.Brightness(x).enhance(1.3)", "lambda x: cv2.convertScaleAbs(x, alpha=1.3)",
        "V.AdjustBrightness(1.3)")),
    Case("adjust_contrast", backends("adjust_contrast", "pillow opencv torch", factor=1.3), **both(
        "lambda x: F.adjust_contrast(x, 1.3)", "lambda x: ImageEnhance.Contrast(x).enhance(1.3)", "lambda x: contrast(x, 1.3)", "V.AdjustContrast(1.3)")),
    Case("adjust_saturation", backends("adjust_saturation", "pillow opencv torch", factor=1.3), **both(
        "lambda x: F.adjust_saturation(x, 1.3)", "lambda x: ImageEnhance.Color(x).enhance(1.3)", "lambda x: saturation(x, 1.3)", "V.AdjustSaturation(1.3)")),
    Case("adjust_hue", backends("adjust_hue", "pillow opencv torch", factor=0.1), **both(
        "lambda x: F.adjust_hue(x, 0.1)", "lambda x: hue(x, 25)", "lambda x: hue(x, 25)", "V.AdjustHue(0.1)")),
    Case("adjust_gamma", backends("adjust_gamma", "pillow torch", gamma=1.5), **both(
        "lambda x: F.adjust_gamma(x, 1.5)", "lambda x: x.point(GAMMA)", "lambda x: cv2.LUT(x, GAMMA)", "V.AdjustGamma(1.5)")),
    Case("adjust_sharpness", backends("adjust_sharpness", "pillow opencv torch", factor=1.7), **both(
        "lambda x: F.adjust_sharpness(x, 1.7)", "lambda x: ImageEnhance.Sharpness(x).enhance(1.7)", "lambda x: sharpness(x, 1.7)", "V.AdjustSharpness(1.7)")),
    Case("auto_contrast", backends("auto_contrast", "pillow torch mindspore"), **both("F.autocontrast", "ImageOps.autocontrast", "", "V.AutoContrast()")),
    Case("equalize", backends("equalize", "pillow opencv torch"), **both(
        "F.equalize", "ImageOps.equalize", "lambda x: cv2.merge([cv2.equalizeHist(p) for p in cv2.split(x)])", "V.Equalize()")),
    Case("posterize", op("posterize", bits=4), **both(
        "lambda x: F.posterize(x, 4)", "lambda x: ImageOps.posterize(x, 4)", "lambda x: cv2.bitwise_and(x, (240, 240, 240, 0))", "V.Posterize(4)")),
    Case("solarize", op("solarize", threshold=[128, 255]), **both(
        "lambda x: F.solarize(x, 128)", "lambda x: ImageOps.solarize(x, 128)", "lambda x: cv2.LUT(x, SOLARIZE)", "V.Solarize(128)")),
    Case("invert", op("invert"), **both("F.invert", "ImageOps.invert", "cv2.bitwise_not", "V.Invert()")),
    Case("grayscale", backends("grayscale", "pillow opencv torch"), **both(
        "F.rgb_to_grayscale", "lambda x: x.convert('L')", "lambda x: cv2.cvtColor(x, cv2.COLOR_RGB2GRAY)", "V.ConvertColor(V.ConvertMode.COLOR_RGB2GRAY)")),
    Case("channel_permutation", op("channel_permutation", permutation=[2, 1, 0]), **both(
        "lambda x: F.permute_channels(x, [2, 1, 0])", "lambda x: Image.merge('RGB', x.split()[::-1])", "lambda x: cv2.cvtColor(x, cv2.COLOR_RGB2BGR)",
        "V.ConvertColor(V.ConvertMode.COLOR_RGB2BGR)")),
    Case("convert_color-bgr", op("convert_color", to="bgr"), **both("", "", "lambda x: cv2.cvtColor(x, cv2.COLOR_RGB2BGR)",
        "V.ConvertColor(V.ConvertMode.COLOR_RGB2BGR)")),
    Case("convert_color-rgba", op("convert_color", to="rgba"), **both("", "lambda x: x.convert('RGBA')", "lambda x: cv2.cvtColor(x, cv2.COLOR_RGB2RGBA)",
        "V.ConvertColor(V.ConvertMode.COLOR_RGB2RGBA)")),
    Case("convert_color-hsv", backends("convert_color", "pillow opencv", to="hsv"), **both("", "lambda x: x.convert('HSV')",
        "lambda x: cv2.cvtColor(x, cv2.COLOR_RGB2HSV)")),
    Case("convert_color-ycrcb", op("convert_color", to="ycrcb"), **both("", "", "lambda x: cv2.cvtColor(x, cv2.COLOR_RGB2YCrCb)")),
    Case("rgb_to_hsv", op("rgb_to_hsv"), input="tensor", mindspore="V.RgbToHsv(is_hwc=True)"),
    Case("hsv_to_rgb", op("hsv_to_rgb"), input="tensor", mindspore="V.HsvToRgb(is_hwc=True)"),
    Case("gaussian_blur-5", backends("gaussian_blur", "opencv torch", kernel_height=5, kernel_width=5, sigma_y=1.5, sigma_x=1.5), **both(
        "lambda x: F.gaussian_blur(x, [5, 5], [1.5, 1.5])", "", "lambda x: cv2.GaussianBlur(x, (5, 5), 1.5)", "V.GaussianBlur(5, 1.5)")),
    Case("gaussian_blur-pillow", op("gaussian_blur", sigma_y=1.5, sigma_x=1.5), pillow="lambda x: x.filter(ImageFilter.GaussianBlur(1.5))"),
    Case("erase", op("erase", top=20, left=30, height=100, width=120), **both(
        "lambda x: F.erase(x, 20, 30, 100, 120, torch.zeros(3, 1, 1, dtype=torch.uint8))", "", "", "V.Erase(20, 30, 100, 120)")),
    Case("elastic", op("elastic"), torchvision="lambda x: F.elastic(x, displacement(x))"),
    Case("jpeg", op("jpeg", quality=75), **both(
        "lambda x: F.jpeg(x, 75)", "lambda x: jpeg(x, 75)", "lambda x: jpeg(x, 75)", "lambda x: V.Decode()(vision_encode(x, 75))")),
    Case("hwc2chw", op("hwc2chw"), **both("", "", "lambda x: np.ascontiguousarray(x.transpose(2, 0, 1))", "V.HWC2CHW()")),
    Case("chw2hwc", op("chw2hwc"), input="tensor", torchvision="lambda x: x.permute(1, 2, 0).contiguous()"),
    # The quotient by 255, and the product with 1/255.
    Case("to_tensor", op("to_tensor"), torchvision="lambda x: x.to(torch.float32).div_(255)"),
    Case("to_tensor-multiply", [*op("hwc2chw"), *op("rescale", scale=1 / 255, rule="multiply")], **both(
        "lambda x: F.to_dtype(x, torch.float32, scale=True)", "", "lambda x: cv2.dnn.blobFromImage(x, 1 / 255)[0]", "V.ToTensor()")),
    Case("to_type", op("to_type", dtype="float32"), **both("lambda x: x.to(torch.float32)", "", "lambda x: x.astype(np.float32)")),
    Case("rescale", {r: op("rescale", scale=1 / 255, rule=r) for r in ("multiply", "fused")}, torchvision="lambda x: F.to_dtype(x, torch.float32, scale=True)",
        mindspore="V.Rescale(1 / 255, 0.)"),
    Case("normalize", op("normalize", mean=MEAN, std=STD), input="tensor", **both(
        f"lambda x: F.normalize(x, {MEAN}, {STD})", "", "", f"V.Normalize({MEAN}, {STD})")),
]
